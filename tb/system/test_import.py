# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm config import`: devices and workloads in MQSim's XML, with what public configurations have: empty lines in front, comments,
caches of size 0, thresholds that leave no room, rates that no interface has."""
import json
import re
import shlex
import subprocess
import tomllib
import unittest
import xml.etree.ElementTree as ElementTree

from support import BINARY, OK, USER_ERROR, SystemTest

SSD = """<?xml version="1.0" encoding="us-ascii"?>
<Execution_Parameter_Set>
 <Host_Parameter_Set><PCIe_Lane_Bandwidth>1.0</PCIe_Lane_Bandwidth><PCIe_Lane_Count>4</PCIe_Lane_Count><SATA_Processing_Delay>400000</SATA_Processing_Delay></Host_Parameter_Set>
 <Device_Parameter_Set>
  <Seed>5</Seed><Enabled_Preconditioning>false</Enabled_Preconditioning><Memory_Type>FLASH</Memory_Type><HostInterface_Type>NVME</HostInterface_Type>
  <IO_Queue_Depth>1024</IO_Queue_Depth><Queue_Fetch_Size>512</Queue_Fetch_Size><Caching_Mechanism>ADVANCED</Caching_Mechanism>
  <Data_Cache_Capacity>1048576</Data_Cache_Capacity><Data_Cache_DRAM_Data_Rate>800</Data_Cache_DRAM_Data_Rate> <!-- MT/s -->
  <Data_Cache_DRAM_Data_Busrt_Size>4</Data_Cache_DRAM_Data_Busrt_Size><Data_Cache_DRAM_tRCD>13</Data_Cache_DRAM_tRCD><Data_Cache_DRAM_tCL>13</Data_Cache_DRAM_tCL>
  <Address_Mapping>PAGE_LEVEL</Address_Mapping><Ideal_Mapping_Table>true</Ideal_Mapping_Table><CMT_Capacity>65536</CMT_Capacity>
  <Plane_Allocation_Scheme>CWDP</Plane_Allocation_Scheme><Transaction_Scheduling_Policy>PRIORITY_OUT_OF_ORDER</Transaction_Scheduling_Policy>
  <Overprovisioning_Ratio>0.30</Overprovisioning_Ratio><GC_Exec_Threshold>0.10</GC_Exec_Threshold><GC_Hard_Threshold>0.05</GC_Hard_Threshold>
  <GC_Block_Selection_Policy>RGA</GC_Block_Selection_Policy><Static_Wearleveling_Enabled>false</Static_Wearleveling_Enabled>
  <Flash_Channel_Count>2</Flash_Channel_Count><Flash_Channel_Width>1</Flash_Channel_Width><Channel_Transfer_Rate>333</Channel_Transfer_Rate>
  <Chip_No_Per_Channel>2</Chip_No_Per_Channel><Flash_Comm_Protocol>NVDDR2</Flash_Comm_Protocol>
  <Flash_Parameter_Set>
   <Flash_Technology>MLC</Flash_Technology><CMD_Suspension_Support>ERASE</CMD_Suspension_Support>
   <Page_Read_Latency_LSB>60000</Page_Read_Latency_LSB><Page_Read_Latency_CSB>1</Page_Read_Latency_CSB><Page_Read_Latency_MSB>90000</Page_Read_Latency_MSB>
   <Page_Program_Latency_LSB>750000</Page_Program_Latency_LSB><Page_Program_Latency_CSB>1</Page_Program_Latency_CSB><Page_Program_Latency_MSB>750000</Page_Program_Latency_MSB>
   <Block_Erase_Latency>3800000</Block_Erase_Latency><Block_PE_Cycles_Limit>10000</Block_PE_Cycles_Limit><Die_No_Per_Chip>2</Die_No_Per_Chip><Plane_No_Per_Die>1</Plane_No_Per_Die>
   <Block_No_Per_Plane>64</Block_No_Per_Plane><Page_No_Per_Block>32</Page_No_Per_Block><Page_Capacity>8192</Page_Capacity><Page_Metadat_Capacity>448</Page_Metadat_Capacity>
  </Flash_Parameter_Set>
 </Device_Parameter_Set>
</Execution_Parameter_Set>
"""
FLOW = """<IO_Flow_Parameter_Set_Synthetic><Priority_Class>{priority}</Priority_Class><Device_Level_Data_Caching_Mode>WRITE_CACHE</Device_Level_Data_Caching_Mode>
<Channel_IDs>{channels}</Channel_IDs><Chip_IDs>0,1</Chip_IDs><Die_IDs>0,1</Die_IDs><Plane_IDs>0</Plane_IDs>
<Initial_Occupancy_Percentage>100</Initial_Occupancy_Percentage><Working_Set_Percentage>50</Working_Set_Percentage><Synthetic_Generator_Type>{kind}</Synthetic_Generator_Type>
<Read_Percentage>{reads}</Read_Percentage><Address_Distribution>{law}</Address_Distribution><Percentage_of_Hot_Region>20</Percentage_of_Hot_Region>
<Generated_Aligned_Addresses>true</Generated_Aligned_Addresses><Address_Alignment_Unit>16</Address_Alignment_Unit>
<Request_Size_Distribution>FIXED</Request_Size_Distribution><Average_Request_Size>16</Average_Request_Size><Variance_Request_Size>0</Variance_Request_Size>
<Seed>7</Seed><Average_No_of_Reqs_in_Queue>{depth}</Average_No_of_Reqs_in_Queue><Intensity>8192000</Intensity>
<Stop_Time>20000000</Stop_Time><Total_Requests_To_Generate>{count}</Total_Requests_To_Generate></IO_Flow_Parameter_Set_Synthetic>"""


def flow(priority="HIGH", channels="0,1", kind="QUEUE_DEPTH", reads=100, law="RANDOM_UNIFORM", depth=4, count=0):
    return FLOW.format(priority=priority, channels=channels, kind=kind, reads=reads, law=law, depth=depth, count=count)


def changed(text, **values):
    for name, value in values.items():
        begin, end = text.index(f"<{name}>") + len(name) + 2, text.index(f"</{name}>")
        text = text[:begin] + str(value) + text[end:]
    return text


class ImportMqsim(SystemTest):
    def convert(self, ssd=SSD, scenarios=(), *more, code=OK):
        self.write("ssd.xml", ssd)
        words = ["config", "import", "mqsim", "ssd.xml"]
        if scenarios:
            self.write("load.xml", "<MQSim_IO_Scenarios>" + "".join(f"<IO_Scenario>{s}</IO_Scenario>" for s in scenarios) + "</MQSim_IO_Scenarios>")
            words.append("load.xml")
        done = self.ssdtlm(*words, "-o", "got", *more)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == OK else done.stderr

    def device(self):
        return tomllib.loads((self.dir / "got" / "ssd.toml").read_text(encoding="utf-8"))

    def run_command(self, line):
        done = subprocess.run([BINARY, *shlex.split(line)[1:], "-q"], cwd=self.dir, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, OK, done.stderr)
        words = shlex.split(line)
        with open(f"{self.dir}/{words[words.index('-o') + 1]}/result.json", encoding="utf-8") as file:
            return json.load(file)

    def test_a_device(self):
        said = self.convert()
        device = self.device()
        self.assertEqual(device["nand"]["t_read"], ["60000ns", "90000ns"])
        self.assertEqual(device["nand"]["geometry"], {"channels": 2, "ways": 2, "dies_per_chip": 2, "planes_per_die": 1, "blocks_per_plane": 64, "pages_per_block": 32,
                                                      "page_size": "8192B", "spare_size": "448B", "unit_size": "8192B"})
        self.assertEqual(device["gc"], {"soft_free_blocks": 10, "hard_free_blocks": 4, "policy": "d_choices", "d_choices": {"choices": 6}})
        self.assertEqual(device["dram"]["bandwidth"], "6400MB/s")
        # 8 planes x 64 blocks x 32 pages x 8 KiB, less 30 % of it: 30/70 of the capacity, in whole units.
        self.assertEqual(device["ftl"]["over_provisioning"], "42.8571%")
        derived = json.loads(self.ssdtlm("config", "derive", "got/ssd.toml", "--json").stdout)["figures"]["capacity"]["values"]
        self.assertAlmostEqual(derived["user_capacity"]["value"], 8 * 64 * 32 * 8192 * 0.7, delta=2 * 8192)
        self.assertEqual(device["nand"]["faults"], {"pe_limit": 10000})
        self.assertIn("no counterpart", said)
        self.assertIn("the drive has NVMe", said)

    def test_each_parameter_has_a_row(self):
        """What the file has is taken, taken nearly, or said to have no counterpart."""
        more = ("Data_Cache_DRAM_tRP", "Data_Cache_DRAM_Row_Size", "CMT_Sharing_Mode", "Suspend_Erase_Time", "Preferred_suspend_erase_time_for_read", "Use_Copyback_for_GC", "Static_Wearleveling_Threshold",
                "Data_Cache_Sharing_Mode")
        ssd = SSD.replace("<Seed>", "".join(f"<{name}>{'SHARED' if 'Sharing' in name else 'true' if 'Use' in name else 4}</{name}>" for name in more) + "<Seed>", 1)
        rows = json.loads(self.convert(ssd, (flow(), flow(kind="BANDWIDTH") + flow(law="STREAMING", count=9)), "--json"))["rows"]
        flows = [f"<MQSim_IO_Scenarios>{flow()}</MQSim_IO_Scenarios>"] * 3
        for text, said in ((ssd, ""), *zip(flows, ("scenario 1 flow 1", "scenario 2 flow 1", "scenario 2 flow 2"))):
            names = {row["name"] for row in rows if row["flow"] == said}
            for leaf in ElementTree.fromstring(text.encode()).iter():
                if len(leaf) == 0:
                    self.assertTrue(any(leaf.tag == name or (name.endswith("*") and leaf.tag.startswith(name[:-1])) for name in names), (said, leaf.tag))

    def test_the_table_counts_its_rows(self):
        groups = re.split(r"^(taken|taken nearly|no counterpart), (\d+):$", self.convert(SSD, (flow() + flow(),)), flags=re.MULTILINE)[1:]
        self.assertEqual(len(groups), 9)
        for count, text in zip(groups[1::3], groups[2::3]):
            self.assertEqual(len(re.findall(r"^  \S", text, re.MULTILINE)), int(count))
        self.assertRegex("".join(groups), r"  scenario 1 flow 2: Read_Percentage = 100 +rw=randread")

    def test_what_the_file_leaves_out(self):
        """A default is marked, and a name that looks like one that is not there is asked about."""
        rows = {row["name"]: row for row in json.loads(self.convert(SSD.replace("GC_Block_Selection_Policy>", "GC_Block_Selection_Polcy>"), (), "--json"))["rows"]}
        self.assertEqual(rows["GC_Block_Selection_Policy"]["value"], "RGA (its default)")
        self.assertEqual(rows["GC_Block_Selection_Polcy"]["how"], "no counterpart")
        self.assertIn("did you mean 'GC_Block_Selection_Policy'?", rows["GC_Block_Selection_Polcy"]["why"])
        self.assertEqual(rows["Flash_Channel_Count"]["value"], "2")
        self.assertIn("did you mean 'Page_Capcity'?", self.convert(SSD.replace("Page_Capacity>", "Page_Capcity>"), code=USER_ERROR))

    def test_a_preconditioned_drive_has_an_empty_cache(self):
        """MQSim's preconditioning leaves its data cache empty: reads do not wait for a buffer that drains."""
        said = json.loads(self.convert(changed(SSD, Enabled_Preconditioning="true"), (flow(count=2000),), "--json"))
        self.assertIs(self.device()["precondition"]["fill_caches"], False)
        self.assertTrue(any(row["ours"] == "precondition.fill_caches = false" for row in said["rows"]))
        result = self.run_command(said["commands"][0])
        self.assertEqual(result["counters_whole_run"].get("gc_page_reads", 0), 0)
        self.assertEqual(result["ftl"]["host_pages"], 0)

    def test_what_is_implausible_is_said(self):
        said = self.convert(changed(SSD, Page_Read_Latency_LSB=50000000))
        self.assertRegex(said, r"(?m)^note: .*nand\.t_read.* is implausible: ")

    def test_workloads_run(self):
        """Depth, share of reads and sizes are what the run has."""
        said = json.loads(self.convert(SSD, (flow(depth=4) + flow(priority="LOW", reads=0, depth=2), flow(law="RANDOM_HOTCOLD", reads=50, count=200), flow(law="STREAMING", kind="BANDWIDTH", reads=0)), "--json"))
        both = self.run_command(said["commands"][0])
        self.assertEqual([f["name"] for f in both["flows"]], ["ssd-scenario1-flow1", "ssd-scenario1-flow2"])
        self.assertTrue(both["read"]["ios"] > 0 and both["write"]["ios"] > 0)
        self.assertEqual(both["read"]["bytes"], 8192 * both["read"]["ios"])
        # Little: depth over latency.
        self.assertAlmostEqual(both["read"]["iops"] * both["latency_us"]["read"]["total"]["mean"] / 1e6, 4, delta=0.1)
        self.assertIn("host.queue_priorities=[1, 3]", said["commands"][0])
        mixed = self.run_command(said["commands"][1])
        self.assertEqual(mixed["read"]["ios"] + mixed["write"]["ios"], 200)
        # 8,192,000 B/s of 8 KiB requests for 20 ms.
        rated = self.run_command(said["commands"][2])
        self.assertAlmostEqual(rated["write"]["ios"], 20, delta=15)

    def test_sets(self):
        """Flows on channels of their own are NVM Sets; flows that share channels are not, and that is said."""
        said = json.loads(self.convert(SSD, (flow(channels="0") + flow(channels="1"), flow(channels="0") + flow(channels="0,1")), "--json"))
        self.assertIn("ftl.nvm_sets=C0, C1", shlex.join(shlex.split(said["commands"][0])).replace("'", ""))
        self.run_command(said["commands"][0])
        self.assertNotIn("nvm_sets", said["commands"][1])
        self.assertTrue(any(row["how"] == "no counterpart" and "share" in row["why"] for row in said["rows"]))

    def test_traces(self):
        """What a trace has beside its path: loops and time unit become options, a share of it cannot be said."""
        scenario = ("<IO_Flow_Parameter_Set_Trace_Based><Priority_Class>HIGH</Priority_Class><File_Path>a.trace</File_Path><Percentage_To_Be_Executed>50</Percentage_To_Be_Executed>"
                    "<Relay_Count>2</Relay_Count><Time_Unit>MICROSECOND</Time_Unit></IO_Flow_Parameter_Set_Trace_Based>")
        self.write("a.trace", "".join(f"{10 * i} 0 {16 * i} 16 1\n" for i in range(20)))
        said = json.loads(self.convert(SSD, (scenario,), "--json"))
        self.assertEqual([row["how"] for row in said["rows"] if row["name"] in ("Percentage_To_Be_Executed", "Time_Unit")], ["no counterpart", "taken"])
        result = self.run_command(said["commands"][0])
        self.assertEqual(result["read"]["ios"], 40)
        # 20 records, 10 us apart, twice.
        self.assertGreater(result["simulated_s"], 2 * 19 * 10e-6)

    def test_odd_devices(self):
        """As public configurations have them: each is accepted by `config check`."""
        odd = {"front": "\n" + SSD, "no cache": changed(SSD, Data_Cache_Capacity=0), "small cache": changed(SSD, Data_Cache_Capacity=4096),
               "no room": changed(SSD, Overprovisioning_Ratio=0.02, GC_Exec_Threshold=0.3, GC_Hard_Threshold=0.4), "fast bus": changed(SSD, Channel_Transfer_Rate=2400, Flash_Channel_Width=2),
               "fast link": changed(SSD, PCIe_Lane_Bandwidth=15.1, PCIe_Lane_Count=16), "odd lanes": changed(SSD, PCIe_Lane_Bandwidth=0.4, PCIe_Lane_Count=3),
               "deep": changed(SSD, IO_Queue_Depth=999999), "cached map": changed(SSD, Ideal_Mapping_Table="false"), "other scheduler": changed(SSD, Transaction_Scheduling_Policy="MINE"),
               "four bits": changed(SSD, Flash_Technology="QLC"), "preconditioned": changed(SSD, Enabled_Preconditioning="true"), "victims": changed(SSD, GC_Block_Selection_Policy="RANDOM_PP"),
               "suspends": changed(SSD, CMD_Suspension_Support="PROGRAM_ERASE")}
        for name, ssd in odd.items():
            for more in ((), ("--mechanisms",)) if name in ("front", "preconditioned") else ((),):
                with self.subTest(name, more=more):
                    self.convert(ssd, (), *more)
                    done = self.ssdtlm("config", "check", "got/ssd.toml")
                    self.assertEqual(done.returncode, OK, done.stderr)

    def test_numbers_that_are_refused(self):
        """Each mistake is said of the user's file and its element, with the range; once; and leaves no device."""
        line = 1 + SSD[: SSD.index("<Flash_Channel_Count>")].count("\n")
        for name, value, said in (("Flash_Channel_Count", 0, "as nand.geometry.channels; 0 is out of range; 1..64"), ("Flash_Channel_Count", 9999, "9999 is out of range; 1..64"),
                                  ("Flash_Channel_Count", -3, "a number of 0 or more"), ("Flash_Channel_Count", 2.5, "a whole number"), ("Flash_Channel_Count", "1e400", "a number of 0 or more"),
                                  ("Block_No_Per_Plane", 0, "a number of 1 or more"), ("PCIe_Lane_Bandwidth", 0, "a number above 0"), ("Overprovisioning_Ratio", -1, "a number from 0 to 0.999999"),
                                  ("Overprovisioning_Ratio", 1, "a number from 0 to 0.999999"), ("GC_Exec_Threshold", 3, "a number from 0 to 0.999999"), ("Page_Capacity", 1000000, "512B..131072B"),
                                  ("Data_Cache_Capacity", -1, "a number of 0 or more"), ("Page_Read_Latency_LSB", 0, "Page_Read_Latency_* = 0/90000, as nand.t_read"),
                                  ("Plane_Allocation_Scheme", "CC", "CDPW, CDWP")):
            with self.subTest(name, value=value):
                error = self.convert(changed(SSD, **{name: value}), code=USER_ERROR)
                self.assertEqual(error.count("\n"), 1, error)
                self.assertRegex(error, rf"^ssd\.xml:\d+: {name[:17]}")
                self.assertIn(said, error)
                if name == "Flash_Channel_Count":
                    self.assertTrue(error.startswith(f"ssd.xml:{line}: "), error)
                self.assertFalse((self.dir / "got" / "ssd.toml").exists())
        self.assertEqual(self.convert(changed(SSD, Flash_Channel_Count=0, Page_Capacity=1), code=USER_ERROR).count("\n"), 2)

    def test_workloads_that_are_refused(self):
        """Each mistake has its line, its element and what is allowed, and all are said at once."""
        for name, value, said in (("Read_Percentage", 140, "a number from 0 to 100"), ("Initial_Occupancy_Percentage", 170, "a number from 0 to 100"),
                                  ("Address_Distribution", "GAUSS", "STREAMING, RANDOM_UNIFORM, RANDOM_HOTCOLD"), ("Average_No_of_Reqs_in_Queue", 0, "a number of 1 or more"),
                                  ("Stop_Time", 0, "a number above 0"), ("Average_Request_Size", 0, "a number of 1 or more"), ("Working_Set_Percentage", 0, "a number"),
                                  ("Request_Size_Distribution", "FIXD", "did you mean 'FIXED'?"), ("Priority_Class", "LOWEST", "URGENT, HIGH, MEDIUM, LOW"), ("Channel_IDs", "0,x", "numbers from 0 to 1"),
                                  ("Generated_Aligned_Addresses", "maybe", "TRUE, FALSE"), ("Synthetic_Generator_Type", "DEPTH", "QUEUE_DEPTH, BANDWIDTH"),
                                  ("Device_Level_Data_Caching_Mode", "CACHE", "WRITE_CACHE")):
            with self.subTest(name):
                # The second of two flows, whose lines follow the first one's.
                error = self.convert(SSD, (flow() + "\n" + changed(flow(), **{name: value}),), code=USER_ERROR)
                line = 1 + (flow() + "\n" + flow()[: flow().index(f"<{name}>")]).count("\n")
                self.assertTrue(error.startswith(f"load.xml:{line}: {name} = {value}; "), error)
                self.assertIn(said, error)
                self.assertEqual(error.count("\n"), 1, error)
                self.assertFalse((self.dir / "got" / "ssd.toml").exists())
        twice = self.convert(SSD, (flow().replace("<Seed>7</Seed>", "<Seed>7</Seed>\n<Seed>8</Seed>"),), code=USER_ERROR)
        self.assertIn("<Seed> is there twice, first in line 7; once; remove one of them", twice)
        everything = self.convert(changed(SSD, Flash_Channel_Count=0), (changed(flow(), Read_Percentage=140, Stop_Time=0), changed(flow(), Average_Request_Size=0)), code=USER_ERROR)
        self.assertEqual(everything.count("\n"), 4, everything)

    def test_mistakes(self):
        self.assertIn("is not there", self.ssdtlm("config", "import", "mqsim", "none.xml").stderr)
        self.write("text.xml", "no xml")
        self.assertIn("cannot be read", self.ssdtlm("config", "import", "mqsim", "text.xml").stderr)
        self.assertIn("'flashsim'; mqsim, simplessd, femu", self.ssdtlm("config", "import", "flashsim", "text.xml").stderr)
        self.assertIn("--mechanisms", self.ssdtlm("config", "import", "femu", "text.xml", "--mechanisms").stderr)
        self.assertIn("Memory_Type", self.convert(changed(SSD, Memory_Type="PCM"), code=USER_ERROR))
        self.assertIn("Block_No_Per_Plane = many", self.convert(changed(SSD, Block_No_Per_Plane="many"), code=USER_ERROR))
        self.write("load.xml", flow())
        self.write("ssd.xml", SSD)
        done = self.ssdtlm("config", "import", "mqsim", "load.xml", "ssd.xml")
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("is no device of MQSim", done.stderr)


SIMPLESSD = """# a device, smaller than any of theirs
[cpu]
ClockSpeed = 400000000
HILCoreCount = 0
ICLCoreCount = 1
FTLCoreCount = 1
[nvme]
PCIEGeneration = 2
PCIELane = 4
WorkInterval = 4000000  # 4 us
LBASize = 4096
[pal]
Channel = 2
Package = 1
Die = 2
Plane = 1
Block = 64
Page = 64
PageSize = 4096
NANDType = 1
LSBRead = 59975000
LSBWrite = 820620000
CSBRead = 0
MSBRead = 104956000
MSBWrite = 2250000000
Erase = 3000000000
DMASpeed = 333
DMAWidth = 8
SuperblockSize = CWD
PageAllocation = CWDP
[ftl]
MappingMode = 0
OverProvisioningRatio = 0.25
EraseThreshold = 100000
FillingMode = 0
FillRatio = 1.0
InvalidPageRatio = 0.0
EvictPolicy = 3
DChoiceParam = 3
GCThreshold = 0.05
[icl]
CacheSize = 1048576
EnableReadCache = 0
EnableWriteCache = 1
[dram]
Chip = 4
BusWidth = 8
BurstLength = 8
tBURST = 5000
tRCD = 13750
tCL = 13750
IDD0_0 = 40
"""


class ImportSimpleSsd(SystemTest):
    def convert(self, text, *more, code=OK):
        self.write("theirs.cfg", text)
        done = subprocess.run([BINARY, "config", "import", "simplessd", "theirs.cfg", "-o", "out", *more], cwd=self.dir, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_each_parameter_has_a_row_and_the_device_runs(self):
        made = json.loads(self.convert(SIMPLESSD, "--json").stdout)
        rows = {row["name"]: row for row in made["rows"]}
        self.assertEqual(rows["*Write"]["ours"], 'nand.t_program = ["820620000ps", "2250000000ps"]')
        self.assertEqual((rows["tBURST"]["ours"], rows["tBURST"]["how"]), ('dram.bandwidth = "6400MB/s"', "nearly"))  # 4 x 8 bit x 8 / 5 ns
        self.assertEqual(rows["SuperblockSize"]["ours"], 'ftl.superblock = "drive"')
        self.assertEqual(rows["EraseThreshold"]["ours"], "nand.faults.pe_limit = 100000")
        device = tomllib.loads((self.dir / "out" / "theirs.toml").read_text())
        self.assertEqual(device["ftl"]["over_provisioning"], "33.3333%")  # a quarter of the flash
        self.assertEqual(device["gc"]["d_choices"], {"choices": 3})
        # One read at depth 1 takes the faster or the slower page, whatever else.
        done = self.ssdtlm("run", "out/theirs.toml", "--ioengine=libaio", "--rw=randread", "--bs=4k", "--iodepth=1", "--number_ios=200", "-o", "run", "-q")
        self.assertEqual(done.returncode, OK, done.stderr)
        mean = json.loads((self.dir / "run" / "result.json").read_text())["latency_us"]["read"]["array"]["mean"]
        self.assertTrue(59.975 < mean < 104.956, mean)

    def test_what_the_file_leaves_out(self):
        rows = {row["name"]: row for row in json.loads(self.convert(SIMPLESSD.replace("EvictPolicy", "EvictPolcy"), "--json").stdout)["rows"]}
        self.assertEqual(rows["EvictPolicy"]["value"], "0 (its default)")
        self.assertIn("did you mean 'ftl.EvictPolicy'?", rows["[ftl] EvictPolcy"]["why"])
        self.assertEqual(rows["BusWidth"]["ours"], rows["tBURST"]["ours"])
        for line in SIMPLESSD.splitlines():
            key = line.split(" = ")[0]
            if " = " in line:
                self.assertTrue(any(key == name or name.endswith(f"] {key}") or name.startswith("*") and key.endswith(name[1:]) for name in rows), key)

    def test_what_is_no_device(self):
        self.assertIn("it has no Channel in [pal]", self.convert("[global]\nCommonConfig = other.cfg\n", code=USER_ERROR).stderr)
        self.assertIn("SimpleSSD 2.1 (XML)", self.convert('<?xml version="1.0"?>\n<simplessd version="2.1"></simplessd>\n', code=USER_ERROR).stderr)
        self.assertIn("Erase = soon; a number", self.convert(SIMPLESSD.replace("3000000000", "soon"), code=USER_ERROR).stderr)
        self.assertIn("theirs.cfg:13: Channel = 99, as nand.geometry.channels; 99 is out of range; 1..64", self.convert(SIMPLESSD.replace("Channel = 2", "Channel = 99"), code=USER_ERROR).stderr)


FEMU = """#!/bin/bash
secs_per_pg=8 # number of sectors in a flash page
luns_per_ch=2
pg_rd_lat=65000 # 65us
#nchs=16
ssd_size=${SIZE:-96}
OPTIONS="-device femu"
OPTIONS=${OPTIONS}",devsz_mb=${ssd_size},namespaces=1,femu_mode=1"
OPTIONS=${OPTIONS}",secs_per_pg=${secs_per_pg},pgs_per_blk=64,blks_per_pl=64,nchs=4,luns_per_ch=${luns_per_ch}"
OPTIONS=${OPTIONS}",pg_rd_lat=${pg_rd_lat}"
qemu-system-x86_64 -m 4G \\
    ${OPTIONS} -nographic
"""
VSSIM = "PAGE_SIZE\t4096\nPAGE_NB 64\nSECTOR_SIZE 512\nFLASH_NB 4\nBLOCK_NB 64\nPLANES_PER_FLASH 1\nREG_READ_DELAY 60000\nCELL_PROGRAM_DELAY 800000\nCELL_READ_DELAY 40000\nBLOCK_ERASE_DELAY 3000000\nCHANNEL_NB 2\nOVP 0\nGC_MODE 2\n"


class ImportFemu(SystemTest):
    def convert(self, text, *more, code=OK):
        self.write("run.sh", text)
        done = subprocess.run([BINARY, "config", "import", "femu", "run.sh", "-o", "out", *more], cwd=self.dir, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_a_script(self):
        made = json.loads(self.convert(FEMU, "--json").stdout)
        rows = {row["name"]: row for row in made["rows"]}
        device = tomllib.loads((self.dir / "out" / "run.toml").read_text())
        self.assertEqual((device["nand"]["geometry"]["channels"], device["nand"]["geometry"]["ways"], device["ftl"]["user_capacity"]), (4, 2, f"{96 << 20}B"))
        self.assertEqual((rows["nchs"]["value"], rows["blk_er_lat"]["value"]), ("4", "2000000 (its default)"))
        self.assertEqual(rows["namespaces"]["how"], "no counterpart")
        # FEMU charges a read its latency and nothing else; the link is as fast as there is one.
        done = self.ssdtlm("run", "out/run.toml", "--ioengine=libaio", "--rw=randread", "--bs=4k", "--iodepth=1", "--number_ios=100", "-o", "result", "-q")
        self.assertEqual(done.returncode, OK, done.stderr)
        latency = json.loads((self.dir / "result" / "result.json").read_text())["latency_us"]["read"]
        self.assertAlmostEqual(latency["array"]["mean"], 65, places=3)
        self.assertLess(latency["total"]["mean"], 66)

    def test_the_file_of_its_first_releases(self):
        self.convert(VSSIM)
        device = tomllib.loads((self.dir / "out" / "run.toml").read_text())
        self.assertEqual((device["nand"]["t_program"], device["nand"]["geometry"]["ways"]), ("800000ns", 2))
        # All of the flash is exported there; a quarter of it is spare here.
        self.assertEqual(device["ftl"]["user_capacity"], f"{64 * 64 * 4 * 4096 * 3 // 4}B")
        self.convert(VSSIM.replace("OVP 0", "OVP 25"))
        self.assertEqual(tomllib.loads((self.dir / "out" / "run.toml").read_text())["ftl"]["over_provisioning"], "25%")

    def test_numbers_that_are_refused(self):
        self.assertIn("run.sh:9: nchs = 999, as nand.geometry.channels; 999 is out of range; 1..64", self.convert(FEMU.replace("nchs=4", "nchs=999"), code=USER_ERROR).stderr)
        self.assertIn("blks_per_pl = 0, as nand.geometry.blocks_per_plane", self.convert(FEMU.replace("blks_per_pl=64", "blks_per_pl=0"), code=USER_ERROR).stderr)

    def test_what_is_no_black_box(self):
        self.assertIn("femu_mode = 3, zoned namespaces", self.convert(FEMU.replace("femu_mode=1", "femu_mode=3"), code=USER_ERROR).stderr)
        self.assertIn("has no -device femu", self.convert("qemu-system-x86_64 -m 4G\n", code=USER_ERROR).stderr)
        self.assertIn("pg_rd_lat = $((65*1000))", self.convert(FEMU.replace("=65000", "=$((65*1000))"), code=USER_ERROR).stderr)


if __name__ == "__main__":
    unittest.main()
