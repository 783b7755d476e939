"""Formatting and raw disks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_nb.approval import paths
from hermes_nb.approval.rules.table import has_operands, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_nb.approval.shell.commands import Command

_MKFS = (
    "mkfs mke2fs mkswap newfs mkdosfs mkntfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs"
    " mkfs.vfat mkfs.fat mkfs.ntfs"
    " mkfs.exfat mkfs.f2fs mkfs.jfs mkfs.minix mkfs.msdos"
)


def _devices(command: Command) -> Iterator[str]:
    for word in command.operands:
        text = word.text.partition("=")[2] if word.text.startswith(("of=", "if=")) else word.text
        yield paths.normalise(text)


@rule(
    "format-disk",
    "formats a disk or partition",
    programs=_MKFS,
    verdict="block",
    dangerous=(
        "mkfs.ext4 /dev/sda1", "mkfs -t xfs /dev/nvme0n1p2", "sudo mkfs /dev/sdb", "mke2fs /dev/vda",
        "echo y | mkfs.ext4 /dev/sdb1",
    ),
    benign=("man mkfs", "echo mkfs", "mkfs --help", "which mkfs.ext4"),
)  # fmt: skip
def _formats_disk(command: Command) -> bool:
    return any(paths.is_raw_device(path) for path in _devices(command))


rule(
    "format-image",
    "makes a file system, losing what was there",
    programs=_MKFS + " mkfs.erofs",
    dangerous=("mkfs.ext4 disk.img", "mkfs.ext4 $DEV"),
    benign=("mkfs.ext4 -V",),
)(has_operands)  # fmt: skip


@rule(
    "write-raw-device",
    "writes over a raw disk, partition or the machine's memory",
    programs="dd cp mv install ddrescue pv tee shred wipe wipefs blkdiscard sgdisk scrub",
    everywhere=True,
    verdict="block",
    dangerous=(
        "dd if=/dev/zero of=/dev/sda", "cat x.iso > /dev/sdb", "cp image.bin /dev/sda",
        "echo x | tee /dev/sda1", "shred /dev/sda", "dd if=/dev/urandom of=/dev/nvme0n1 bs=1M",
        "wipefs -a /dev/sda", "> /dev/sda", "blkdiscard /dev/sdb", "yes > /dev/mem",
        "sgdisk --zap-all /dev/sda", "sudo dd of=/dev/disk2 if=x.img",
    ),
    benign=(
        "dd if=/dev/zero of=test.img bs=1M count=10", "echo x > /dev/null", "lsblk /dev/sda",
        "fdisk -l /dev/sda", "echo hi > /dev/stderr",
    ),
)  # fmt: skip
def _writes_raw_device(command: Command) -> bool:
    if any(one.writes and paths.is_raw_device(command.path(one.target)) for one in command.redirects):
        return True
    name = command.name
    if name == "dd":
        return any(paths.is_raw_device(paths.normalise(text[3:])) for text in command.texts if text.startswith("of="))
    if name in ("cp", "mv", "install", "ddrescue", "pv"):
        return bool(command.operands) and paths.is_raw_device(command.path(command.operands[-1]))
    if name == "wipefs" and not command.has("-a", "--all", "-o"):
        return False
    if name == "sgdisk" and not command.has("-Z", "-z", "-o", "--zap-all", "--zap", "--clear", "-d", "-n"):
        return False
    return name in ("tee", "shred", "wipe", "wipefs", "blkdiscard", "sgdisk", "scrub") and any(
        paths.is_raw_device(path) for path in _devices(command)
    )


_PARTITIONERS = "fdisk cfdisk sfdisk parted gdisk sgdisk gparted wipefs blkdiscard diskutil hdparm nvme badblocks"


@rule(
    "partition-disk",
    "changes a disk's partitions or wipes it",
    programs=_PARTITIONERS,
    dangerous=(
        "fdisk /dev/sda", "parted /dev/sda mklabel gpt", "sfdisk /dev/sda < table",
        "diskutil eraseDisk JHFS+ x disk2", "hdparm --security-erase p /dev/sda",
        "nvme format /dev/nvme0n1", "badblocks -w /dev/sdb", "parted -s /dev/sda rm 1",
    ),
    benign=(
        "fdisk -l", "parted -l", "parted /dev/sda print", "diskutil list", "sfdisk -d /dev/sda",
        "hdparm -I /dev/sda", "nvme list",
    ),
)  # fmt: skip
def _partitions(command: Command) -> bool:
    verbs = command.verbs
    match command.name:
        case "fdisk" | "cfdisk" | "gdisk" | "sgdisk":
            return bool(verbs) and not command.has("-l", "-p", "--print", "-v", "-i")
        case "sfdisk":
            return bool(verbs) and not command.has("-l", "-d", "--dump", "--list", "-J", "-V")
        case "parted" | "gparted":
            return (
                bool(verbs)
                and not command.has("-l")
                and verbs[1:] not in (["print"], ["p"], ["print", "free"], ["unit", "s", "print"])
            )
        case "diskutil":
            return (
                any(
                    re.match(r"(?i)erase|partition|zero|random|secure|delete|reformat|apfs", verb) for verb in verbs[:2]
                )
                and "list" not in verbs
            )
        case "hdparm":
            return any("security" in text or "trim" in text or "write" in text for text in command.texts)
        case "nvme":
            return any(verb in ("format", "sanitize", "delete-ns", "write", "write-zeroes") for verb in verbs[:1])
        case "badblocks":
            return command.has("-w", "-n")
        case "wipefs":
            return command.has("-a", "--all", "-o", "--offset")
    return bool(verbs)


@rule(
    "volume-change",
    "removes, encrypts or resizes a volume, a pool or a file system",
    programs=(
        "cryptsetup lvremove vgremove pvremove lvreduce lvresize pvcreate vgcreate lvcreate mdadm"
        " zpool zfs btrfs dmsetup tune2fs resize2fs e2fsck fsck fsck.ext4 xfs_repair swapoff swapon"
        " grub-install update-grub efibootmgr mkinitrd bootctl losetup xfs_growfs debugfs"
    ),
    dangerous=(
        "cryptsetup luksFormat /dev/sdb", "lvremove -f vg/data", "zpool destroy tank",
        "zfs destroy -r tank/x", "mdadm --stop /dev/md0", "btrfs subvolume delete /mnt/s",
        "fsck -y /dev/sda1", "swapoff -a", "grub-install /dev/sda", "mdadm --zero-superblock /dev/sdb",
    ),
    benign=(
        "zfs list", "zpool status", "mdadm --detail /dev/md0", "btrfs filesystem df /",
        "cryptsetup status x", "fsck -n /dev/sda1", "swapon --show",
    ),
)  # fmt: skip
def _changes_volume(command: Command) -> bool:
    verbs = command.verbs
    match command.name:
        case "zfs" | "zpool":
            return verbs[:1] not in ([], ["list"], ["status"], ["get"], ["iostat"], ["history"], ["snapshot"])
        case "btrfs":
            return any(verb in ("delete", "balance", "restore", "rescue", "zero-log") for verb in verbs)
        case "mdadm":
            return not command.has("--detail", "-D", "--examine", "-E", "--query", "-Q")
        case "cryptsetup":
            return verbs[:1] not in ([], ["status"], ["isLuks"], ["luksDump"])
        case "dmsetup":
            return verbs[:1] not in ([], ["ls"], ["info"], ["status"], ["table"])
        case "fsck" | "e2fsck" | "fsck.ext4" | "xfs_repair":
            return bool(verbs) and not command.has("-n", "-N")
        case "swapon" | "swapoff" | "losetup" | "efibootmgr" | "tune2fs" | "bootctl" | "debugfs":
            everything = command.has("-a", "-D", "--detach-all") and command.name != "losetup"
            return (bool(verbs) or everything) and not command.has("--show", "-l", "--list", "-s")
    return True


@rule(
    "mount",
    "mounts or unmounts a file system",
    programs="mount umount fusermount sshfs mount.cifs",
    dangerous=(
        "mount /dev/sdb1 /mnt", "umount -l /data", "mount -o remount,rw /", "mount --bind / /mnt/x",
        "umount /mnt",
    ),
    benign=("mount", "mount -l", "mount | grep sda", "findmnt"),
)  # fmt: skip
def _mounts(command: Command) -> bool:
    return bool(command.operands) or command.has("-a")


@rule(
    "read-raw-device",
    "reads a raw disk or the machine's memory",
    programs="dd cat strings xxd od hexdump cp",
    dangerous=("dd if=/dev/sda of=disk.img", "strings /dev/mem", "cat /dev/sda | nc h 1"),
    benign=(
        "dd if=disk.img of=copy.img", "cat /dev/null", "xxd -l 16 /dev/urandom", "head -c 8 /dev/urandom",
    ),
)  # fmt: skip
def _reads_raw_device(command: Command) -> bool:
    texts = [text[3:] for text in command.texts if text.startswith("if=")] if command.name == "dd" else command.verbs
    return any(paths.is_raw_device(paths.normalise(text)) for text in texts)


_ENDLESS = ("/dev/zero", "/dev/urandom", "/dev/random", "/dev/full")


@rule(
    "fill-disk",
    "writes without end and fills the disk or the memory",
    programs="dd cat yes tail tac sort fallocate",
    everywhere=True,
    dangerous=(
        "cat /dev/zero > big", "dd if=/dev/zero of=/tmp/fill", "yes > out.txt", "cat /dev/urandom > /tmp/x",
        "fallocate -l 500G x", "tail /dev/zero",
    ),
    benign=(
        "yes | head -5 > out.txt", "dd if=/dev/zero of=x bs=1M count=1", "head -c 10 /dev/urandom > x",
        "yes | apt-get install jq", "fallocate -l 1G x.img",
    ),
)  # fmt: skip
def _fills_disk(command: Command) -> bool:
    name, texts = command.name, command.texts
    if name == "dd":
        return any(text[3:] in _ENDLESS for text in texts if text.startswith("if=")) and not any(
            text.startswith(("count=", "of=/dev/null")) for text in texts
        )
    to_file = any(one.writes and one.target.text != "/dev/null" for one in command.redirects)
    if name in ("cat", "yes", "tail", "tac", "sort"):
        endless = name == "yes" or any(text in _ENDLESS for text in texts)
        return endless and (to_file or name in ("tail", "tac", "sort"))
    if name == "fallocate":
        return any(re.fullmatch(r"\d{3,}G\w*|\d+T\w*", value.text) for value in command.values("-l", "--length"))
    return False
