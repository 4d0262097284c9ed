# SPDX-License-Identifier: Apache-2.0
"""Drives for tests of `ssdtlm fit`: fio's results of a device whose parameters the fit is not told."""
import json
import pathlib
import shutil

JOB = "[{name}]\nstonewall\nioengine=libaio\ndirect=1\nrw={rw}\nbs={bs}\niodepth={depth}\ntime_based\nruntime={runtime}\nramp_time={ramp}\n{more}"


def job(cells, runtime="50ms", ramp="10ms"):
    """cells: (name, rw, bs, iodepth, further lines)."""
    return "".join(JOB.format(name=name, rw=rw, bs=bs, depth=depth, more=more, runtime=runtime, ramp=ramp) for name, rw, bs, depth, more in cells)


def measure(test, device, hidden, cells, output="drive", **times):
    """Path of fio.json of a device with the hidden values, which is all that is left of the run. Another seed than the fit has."""
    test.write(f"{output}.fio", job(cells, **times))
    words = [word for key, value in hidden.items() for word in ("--set", f"{key}={value}")]
    test.simulate(device, f"{output}.fio", "--seed", 4711, *words, output=output)
    path = pathlib.Path(test.dir) / f"{output}.json"
    shutil.move(pathlib.Path(test.dir) / output / "fio.json", path)
    shutil.rmtree(pathlib.Path(test.dir) / output)
    return path


def without_options(path, where):
    """The same results as fio 2 writes them."""
    results = json.loads(pathlib.Path(path).read_text())
    results.pop("global options", None)
    for one in results["jobs"]:
        one.pop("job options")
    pathlib.Path(where).write_text(json.dumps(results))
