# SPDX-License-Identifier: Apache-2.0
"""What channels, dies of a channel, planes and the order of allocation bring, beside the ceilings that `ssdtlm config derive` computes. README.md has
the sources of the trends."""

import itertools

from ssdtlm.studying import Figure, Point, Study, Trend, check
from ssdtlm.studying.derived import derive

DEVICE = "mqsim-table3"
CHANNELS, DIES, PLANES = (1, 2, 4, 8), (1, 2, 4, 8, 16), (1, 2, 4)
BASE = (4, 4, 2)                     # channels, dies of each, planes of each
# rw: (block size in KiB, name of the ceilings).
LOADS = {"randread": (4, "random 4 KiB reads"), "read": (128, "sequential 128 KiB reads"), "randwrite": (4, "random 4 KiB writes"), "write": (128, "sequential 128 KiB writes")}
DEPTH_OF_A_DIE, MOST_DEPTH = 32, 512  # so that something in the drive limits; no more are in the drive at a time (nvme.fetch_window)
QUICK_ORDERS = ("CWDP", "CPWD", "PCWD", "WCDP", "DPCW", "WDPC")
ORDERS = tuple("".join(letters) for letters in itertools.permutations("CWDP"))
# Of the drive for orders; a request has as many pages as there are channels.
ORDER_GEOMETRY = {"C": 8, "W": 4, "D": 2, "P": 2}
REQUEST_PAGES, PAGE_KIB = 8, 8
ABOVE, BELOW = 1.01, 0.98            # a window begins and ends within a command
NAMED = "what limits does at least"
KIB = 1024


def settings(channels, dies, planes, rw):
    """Small blocks, so that a drive with one die has enough of them; three quarters of the flash for the user; a buffer that is full at once."""
    blocks, pages, page = 256, 256, PAGE_KIB * KIB
    return {"nand.geometry.channels": channels, "nand.geometry.ways": dies, "nand.geometry.dies_per_chip": 1, "nand.geometry.planes_per_die": planes,
            "nand.geometry.blocks_per_plane": blocks, "ftl.user_capacity": f"{channels * dies * planes * blocks * pages * page * 3 // 4}B", "buffer.size": "8MiB",
            "ftl.superblock": "die", "precondition.state": "sequential" if "read" in rw else "fresh"}


class Parallelism(Study):
    title = "Channels, dies, planes and the order of allocation"
    source = "Hu et al., IEEE Transactions on Computers 62(6), 2013, name the four levels and their order; ceilings are those of `ssdtlm config derive`."

    def points(self, quick):
        grid = list(itertools.product(CHANNELS, DIES, PLANES))
        if quick:
            grid = [geometry for geometry in grid if sum(a != b for a, b in zip(geometry, BASE)) < 2]
        points = []
        for geometry, (rw, (size, _)) in itertools.product(grid, LOADS.items()):
            depth, runtime = (depth_of(geometry), 200) if size == 4 else (64, 60)
            job = f"[load]\nioengine=libaio\nrw={rw}\nbs={size}k\niodepth={depth}\nnorandommap\ntime_based\nramp_time=40ms\nruntime={runtime}ms\n"
            points.append(Point(dict(zip(("channels", "dies", "planes"), geometry)) | {"load": rw, "order": ""}, DEVICE, (("load", job),), settings(*geometry, rw)))
        size = REQUEST_PAGES * PAGE_KIB
        for order, depth in itertools.product(QUICK_ORDERS if quick else ORDERS, (1, 64)):
            job = f"[reads]\nioengine=libaio\nrw=randread\nbs={size}k\niodepth={depth}\nnorandommap\nnumber_ios={400 if depth == 1 else 6000}\n"
            points.append(Point({"load": f"reads of {size} KiB at depth {depth}", "order": order, "depth": depth}, DEVICE, (("reads", job),), {"ftl.allocation": order}))
        return points

    def rows(self, ended):
        rows = []
        for point, result in ended:
            op = "write" if "write" in point.axes["load"] else "read"
            row = {**point.axes, "iops": result.json[op]["iops"], "MB_per_s": result.json[op]["MB_per_s"], "latency_us": result.json["latency_us"][op]["total"]["mean"]}
            limit = result.json["limit"]["names"]
            if point.axes["order"]:
                rows.append({**row, "limits": ", ".join(limit), "pages_of_a_channel": pages_of_a_channel(point.axes["order"])})
                continue
            ceilings = derive(point.device, point.settings)["ceilings"][LOADS[point.axes["load"]][1]]["resources"]
            least = min(ceilings, key=lambda one: one["iops"])
            named = [one for one in ceilings if one["resource"] in limit]
            row |= {"limits": ", ".join(limit), "ceiling": least["iops"], "ceiling_of": least["resource"], "of_ceiling": row["iops"] / least["iops"]}
            if named:
                # Where not all is joined or shared, what limits does less than its ceiling.
                least_of_named = min(min(one["iops"], one.get("iops_when_it_limits", one["iops"])) for one in named)
                row |= {"named_from": least_of_named * (busy_share(point.axes) if row["load"] == "randread" else 1), "named_to": min(one["iops"] for one in named)}
            rows.append(row)
        return rows

    def figures(self, rows):
        figures = []
        grid = [row for row in rows if not row["order"]]
        for axis, (what, word) in enumerate((("channels", "channels"), ("dies", "dies of a channel"), ("planes", "planes of a die"))):
            for rw, (_, name) in LOADS.items():
                mine = [row for row in along(grid, axis) if row["load"] == rw]
                both = [{what: row[what], "which": which, "kIOPS": row[column] / 1e3} for which, column in (("run", "iops"), ("ceiling", "ceiling"), (NAMED, "named_from"))
                        for row in mine if column in row]
                figures.append(Figure(f"{what}-{rw}", f"{name} against {word}", "lines", both, what, "kIOPS", "which", "kIOPS", dashed=("ceiling", NAMED)))
        for rw, (_, name) in LOADS.items():
            two_planes = [{**row, "dies": f"{row['dies']} dies"} for row in grid if row["load"] == rw and row["planes"] == BASE[2]]
            if len(two_planes) == len(CHANNELS) * len(DIES):
                figures.append(Figure(f"map-{rw}", f"{name}, {BASE[2]} planes", "map", two_planes, "channels", "of_ceiling", "dies", "of the ceiling"))
        for depth, column, unit in ((1, "latency_us", "us"), (64, "MB_per_s", "MB/s")):
            orders = sorted((row for row in rows if row["order"] and row["depth"] == depth), key=lambda row: row["pages_of_a_channel"])
            figures.append(Figure(f"orders-{depth}", f"Reads of {REQUEST_PAGES * PAGE_KIB} KiB at depth {depth}, by order of allocation", "bars",
                                  [{**row, "pages": f"{row['pages_of_a_channel']} pages on a channel"} for row in orders], "order", column, "", unit))
        return figures

    def trends(self, rows):
        grid = [row for row in rows if not row["order"]]
        named = [row for row in grid if "named_to" in row]
        inside = [row for row in named if BELOW * row["named_from"] <= row["iops"] <= ABOVE * row["named_to"]]
        orders = {row["order"]: row for row in rows if row["order"] and row["depth"] == 1}
        least = orders["CWDP"]["latency_us"]
        rest = least - of_pages_us(1)
        off = {order: row["latency_us"] / (rest + of_pages_us(row["pages_of_a_channel"])) - 1 for order, row in orders.items()}
        worst = max(off, key=lambda order: abs(off[order]))
        deep = [row["MB_per_s"] for row in rows if row["order"] and row["depth"] == 64]
        reads = [row for row in along(grid, 1) if row["load"] == "randread"]
        writes = [row for row in along(grid, 2) if row["load"] == "randwrite"]
        planes = [row for row in along(grid, 2) if row["load"] == "randread"]
        return [
            check("No run is above the least ceiling", max(row["of_ceiling"] for row in grid) < ABOVE, f"{max(row['of_ceiling'] for row in grid):.4f} at most, of {len(grid)} runs"),
            check("What limits does what its formula says, to 2 %", len(inside) == len(named) and len(named) > len(grid) / 2, f"{len(inside)} of {len(named)}"),
            *(Trend(f"{name} rise with the channels in proportion", doubles([row["iops"] for row in along(grid, 0) if row["load"] == rw], 0.1), said([row for row in along(grid, 0) if row["load"] == rw], "channels"))
              for rw, (_, name) in LOADS.items()),
            Trend("Random reads rise with the dies until the bus is full: at 1 + tR / transfer = 6.6 dies of a channel", doubles([row["iops"] for row in reads[:3]], 0.1)
                  and reads[-1]["iops"] < 1.3 * reads[-2]["iops"] and "channel bus" in reads[-1]["limits"] and "channel bus" not in reads[0]["limits"], said(reads, "dies")),
            Trend("Random writes rise with the planes, which program together", doubles([row["iops"] for row in writes], 0.15), said(writes, "planes")),
            check("Random reads do not, as planes read at the same page only", planes[-1]["iops"] < 1.2 * planes[0]["iops"], said(planes, "planes")),
            Trend("Orders that begin with channels have the shortest requests", all(orders["CWDP"]["latency_us"] <= 1.001 * row["latency_us"] for row in orders.values()), f"{least:.1f} us, the others up to {max(row['latency_us'] for row in orders.values()):.1f}"),
            check("A request takes a bus transfer for each page that one channel has, then a link transfer for each page that ends at once, to 2 %", abs(off[worst]) < 0.02, f"worst {worst}: {100 * off[worst]:+.2f} %"),
            check("In a deep queue the order makes a difference of less than a tenth", max(deep) < 1.1 * min(deep), f"{min(deep):.0f} to {max(deep):.0f} MB/s"),
        ]


def along(rows, axis):
    """Rows of the grid that differ from BASE in this axis at most, in its order."""
    names = ("channels", "dies", "planes")
    return sorted((row for row in rows if all(i == axis or row[name] == BASE[i] for i, name in enumerate(names))), key=lambda row: row[names[axis]])


def doubles(values, tolerance):
    return all(abs(b / a / 2 - 1) < tolerance for a, b in zip(values, values[1:]))


def said(rows, what):
    return ", ".join(f"{row['iops'] / 1e3:.1f} with {row[what]}" for row in rows) + " kIOPS"


def pages_of_a_channel(order):
    """How many of the consecutive pages of a request are on the channel that has most."""
    before_channels = 1
    for letter in order[:order.index("C")]:
        before_channels *= ORDER_GEOMETRY[letter]
    return min(REQUEST_PAGES, before_channels)


def depth_of(geometry):
    return min(MOST_DEPTH, DEPTH_OF_A_DIE * geometry[0] * geometry[1])


def busy_share(axes):
    """Of the dies under random reads: a closed network of servers with a fixed time, k requests for each (Pollaczek-Khinchine, closed for large networks)."""
    dies = axes["channels"] * axes["dies"]
    k = depth_of((axes["channels"], axes["dies"])) / dies
    return 1 + k - (1 + k * k) ** 0.5 if dies > 1 else 1


def of_pages_us(on_a_channel):
    """What a request takes that grows with its pages: on the busiest channel one after the other, then those that end together over the link."""
    ceilings = {one["resource"]: one["iops"] for one in derive(DEVICE, {})["ceilings"][LOADS["read"][1]]["resources"]}
    pages = LOADS["read"][0] / PAGE_KIB
    return 1e6 / pages * (on_a_channel * ORDER_GEOMETRY["C"] / ceilings["channel bus"] + REQUEST_PAGES / on_a_channel / ceilings["link to host"])


STUDY = Parallelism()
