# SPDX-License-Identifier: Apache-2.0
"""The runs of a fit. Of each only fio's figures are kept, in runs/<key>.json: a fit has thousands."""

import hashlib
import json

from ..errors import Problem, UserError
from ..reporting.page import write
from ..studying import Point
from ..studying.runs import LONGEST_MESSAGE, Runs, key
from . import measured

REFUSED = 2


class FitRuns(Runs):
    """The runs of a fit. device: the file of the device that is fitted; its content is a part of a run's key."""

    def __init__(self, folder, workers, device, seed):
        super().__init__(folder, workers, lambda text: None)
        self._device, self._seed = str(device), seed
        self._contents = hashlib.sha256(device.read_bytes()).hexdigest()

    def point(self, group, values, seed=None):
        """The Point that runs a measured.Group with these values of the free parameters. seed: in place of that of the fit."""
        return Point({"cells": group.name, **values}, self._device, (("fio", group.job),), values, ("--seed", str(self._seed if seed is None else seed)))

    def _key(self, point):
        # The content counts and not the path, so that a fit can go on in a folder that was moved.
        return key(point, self._build, self._contents)

    def _place(self, name):
        return self.folder / "runs" / f"{name}.json"

    def _keep(self, name, attempt):
        jobs = measured.by_job(measured.load(attempt / "fio.json"))
        figures = {cell: {" ".join(k): v for k, v in measured.figures_of(parts)[0].items()} for (_, cell), parts in jobs.items()}
        write(self._place(name), json.dumps({"cells": figures}))

    def _failed(self, name, point, code, said):
        """Keeps that a trial was refused. Values that do not go together are no mistake of the user."""
        if code != REFUSED:
            super()._failed(name, point, code, said)
        write(self._place(name), json.dumps({"refused": said.strip()[-LONGEST_MESSAGE:]}))

    def _read(self, place):
        try:
            return json.loads(place.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UserError(Problem(str(place), f"cannot be read: {error}", "", "remove it: the run is made again")) from None
