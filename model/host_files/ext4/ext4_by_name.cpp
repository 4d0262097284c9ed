// SPDX-License-Identifier: Apache-2.0
// Registers ext4 as a file system by name, with its parameters.
#include "host_files/ext4/ext4.h"
#include "host_files/file_systems.h"

namespace ssdtlm {

namespace {

const FileSystems::Registered kExt4{
    {"ext4",
     "ext4 under direct I/O: extents, and an ordered journal of metadata",
     {policy_quantity("block_size", Dimension::bytes, 4096)
          .only({1024, 2048, 4096})
          .says("Blocks of the file system; at least a logical block of the drive")
          .from("mke2fs.conf: 4096 for all but small file systems"),
      policy_quantity("journal_size", Dimension::bytes, 0)
          .range("0B", "10GiB")
          .multiple_of("1MiB")
          .says("The journal. 0B: as mke2fs chooses it, 64 MiB for 2 to 16 GiB")
          .from("e2fsprogs lib/ext2fs/mkjournal.c ext2fs_default_journal_size()"),
      policy_quantity("inode_ratio", Dimension::bytes, 16384)
          .range("4KiB", "64MiB")
          .multiple_of("1KiB")
          .says("Bytes of the file system for each inode: the size of the inode tables")
          .from("mke2fs.conf inode_ratio"),
      policy_quantity("inode_size", Dimension::bytes, 256)
          .only({128, 256, 512, 1024})
          .says("An inode on the drive. A block has as many inodes as fit, and is written to the journal as a whole")
          .from("mke2fs.conf inode_size"),
      policy_boolean("discard", true)
          .says("mke2fs first discards the whole drive")
          .from("mke2fs -E discard, its default")
          .only_with("files.format = true"),
      policy_boolean("zero_inode_tables", false)
          .says("mke2fs writes the inode tables. false: it leaves that to the kernel, which does it when the drive is "
                "idle: not modelled")
          .from("mke2fs -E lazy_itable_init, its default")
          .only_with("files.format = true"),
      policy_boolean("barrier", true)
          .says("The drive's cache is flushed before a commit record, which is written with FUA, and by each sync")
          .from("ext4: mount option barrier=1"),
      policy_boolean("relatime", true)
          .says("The first read of a file behind a write changes its inode. false: noatime")
          .from("Linux: mount option relatime, the default since 2.6.30"),
      policy_quantity("commit", Dimension::time, 5'000'000'000'000)
          .range("1ms", "300s")
          .says("What has changed is committed after this time though nobody asks")
          .from("ext4: mount option commit=5"),
      policy_quantity("write_back_age", Dimension::time, 30'000'000'000'000)
          .range("1s", "3600s")
          .says("Metadata that are in the journal for so long are written to their places")
          .from("Linux vm.dirty_expire_centisecs = 3000"),
      policy_quantity("clock_tick", Dimension::time, 4'000'000'000)
          .range("1us", "1s")
          .says("The clock of time stamps in inodes. Writes to a file within one tick change its inode once, and an "
                "fsync of an inode whose last change is committed has nothing to do")
          .from("Linux: a jiffy, CONFIG_HZ = 250")},
     [](const FileSystemSetup& setup, const PolicySettings& own) {
         Ext4Config c;
         c.layout.bytes = setup.bytes;
         c.layout.block_bytes = static_cast<std::uint32_t>(own.number("block_size"));
         if (c.layout.block_bytes < setup.lba_bytes)
             throw UserError(Problem{"files.ext4.block_size",
                                     std::to_string(c.layout.block_bytes) +
                                         " bytes on a drive with logical blocks of " + std::to_string(setup.lba_bytes),
                                     "at least a logical block", "set files.ext4.block_size to \"4KiB\""});
         c.layout.journal_bytes = static_cast<std::uint64_t>(own.number("journal_size"));
         c.layout.inode_ratio = static_cast<std::uint32_t>(own.number("inode_ratio"));
         c.layout.inode_bytes = static_cast<std::uint32_t>(own.number("inode_size"));
         c.discard = own.flag("discard");
         c.zero_inode_tables = own.flag("zero_inode_tables");
         c.barrier = own.flag("barrier");
         c.relatime = own.flag("relatime");
         c.commit_interval = Ps{own.number("commit")};
         c.write_back_age = Ps{own.number("write_back_age")};
         c.clock_tick = Ps{own.number("clock_tick")};
         return std::make_unique<Ext4>(c);
     }}};

}  // namespace

}  // namespace ssdtlm
