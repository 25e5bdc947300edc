"""What the kernel is asked to forbid: one short function for each mechanism, plain ctypes, no package.

This file runs inside the sandbox's own process, before any line of a student does, and imports the standard
library alone. From the outside in: another user than root, namespaces (a world of its own), Landlock (which
files may be read; none may be written), seccomp (which system calls exist at all), resource limits. Each
function raises OSError when the kernel says no: whoever calls decides what that means. None trusts another:
the self-test in `escape.py` tries to break out of the whole.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import platform
import resource
import stat
import struct
from collections.abc import Iterable

_libc = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 36, 38


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def prctl(option: int, argument: int = 0, pointer: ctypes.c_void_p | None = None) -> None:
    """Change one property of this process."""
    _checked(_libc.prctl(option, ctypes.c_ulong(argument), pointer or ctypes.c_ulong(0), 0, 0))


# ------------------------------------------------------------------ who we are


def leave_root(uid: int) -> None:
    """Become a user that owns nothing on this machine: no file, no process, no group."""
    try:
        os.setgroups([])
    except PermissionError as error:  # as in a container without any powers
        raise PermissionError(error.errno, "root may not become another user here; start it as another user") from None
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if os.getuid() == 0 or os.geteuid() == 0:
        raise PermissionError("still root after setresuid")


def forget_ids() -> None:
    """Overwrite who we are in the table that the system gives a program at its start, which `getauxval` reads."""
    try:
        words = ctypes.cast(ctypes.c_void_p.in_dll(_libc, "__libc_stack_end"), ctypes.POINTER(ctypes.c_ulong))
    except ValueError:  # another C library than glibc, which keeps no such place
        return
    at = 2 + words[0]  # the arguments, then the environment, each with a 0 at its end
    while words[at]:
        at += 1
    at += 1
    while words[at]:
        if words[at] in _IDS:
            words[at + 1] = _NOBODY
        at += 2


_IDS, _NOBODY = (11, 12, 13, 14), 65534  # user, effective user, group, effective group


def drop_capabilities() -> None:
    """Give up the powers that the first process of a user namespace is born with."""
    header, none = struct.pack("=Ii", 0x20080522, 0), bytes(24)
    _checked(_libc.capset(header, none))


# ------------------------------------------------------------------ namespaces

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_THREAD = 0x10000000, 0x20000000, 0x40000000, 0x00010000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 2, 4, 4096, 16384, 1 << 18, 2
_MOUNT_SETATTR, _RDONLY_NOSUID_NODEV = 442, 7


def unshare(flags: int) -> None:
    """Leave the shared namespaces named by `flags`."""
    _checked(_libc.unshare(flags))


def join(descriptor: int, flags: int) -> None:
    """Enter the namespace that `descriptor` stands for."""
    _checked(_libc.setns(descriptor, flags))


def new_world(proc: int, more: int = 0) -> None:
    """Users, network, memory, host name, control groups, processes (and `more`) of our own; `proc` is /proc, opened before."""
    uid, gid = os.getuid(), os.getgid()
    prctl(PR_SET_DUMPABLE, 1)  # after leaving root /proc/self belongs to root until we say otherwise
    unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWPID | CLONE_NEWCGROUP | more)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        file = os.open(f"self/{name}", os.O_WRONLY, dir_fd=proc)
        os.write(file, text.encode())
        os.close(file)


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    encoded = [None if text is None else text.encode() for text in (source, target, kind)]
    options = None if data is None else data.encode()
    _checked(_libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), options))


def private_root(visible: Iterable[str]) -> None:
    """A root that holds these files and folders, read only, and nothing else; the table of mounts is our own already."""
    _mount("none", "/", None, MS_REC | MS_PRIVATE)  # what is mounted from here on is seen by nobody else
    paths = list(visible)
    # The new root is put together on any folder that hides none of them.
    base = next(b for b in ("/sys", "/mnt", "/media") if os.path.isdir(b) and not any(p.startswith(b) for p in paths))
    _mount("sandbox", base, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755")
    for path in paths:
        target = base + path
        if os.path.isdir(path):
            os.makedirs(target, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.close(os.open(target, os.O_CREAT | os.O_RDONLY, 0o644))
        _mount(path, target, None, MS_BIND | MS_REC)
    os.chdir(base)
    _checked(_libc.pivot_root(b".", b"."))
    _checked(_libc.umount2(b".", MNT_DETACH))
    os.chdir("/")
    attributes = struct.pack("=QQQQ", _RDONLY_NOSUID_NODEV, 0, 0, 0)
    _checked(_libc.syscall(_MOUNT_SETATTR, -100, b"/", 0x8000, attributes, ctypes.c_size_t(32)))  # and all below


# ------------------------------------------------------------------ Landlock: which files, for good

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3


def landlock_version() -> int:
    """The kernel's Landlock version; 0 where there is none."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, 0, 1)))


def landlock(readable: Iterable[int], listable: Iterable[int]) -> None:
    """From here on: read what lies behind these descriptors; write nothing, use no port, signal no stranger."""
    version = landlock_version()
    if version == 0:
        raise OSError("this kernel has no Landlock")
    # Each version of the kernel knows a few more rights: all that exist are taken away.
    files = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    ports = 0b11 if version >= 4 else 0
    scopes = 0b11 if version >= 6 else 0
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = [(one, _READ_DIR) for one in listable]
    for descriptor in readable:
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        rules.append((descriptor, _EXECUTE | _READ_FILE | (_READ_DIR if folder else 0)))
    _restrict(struct.pack("=QQQ", files, ports, scopes)[:size], rules)


def landlock_alone() -> None:
    """One more layer for each worker: it may not even signal the process that made it."""
    if landlock_version() >= 6:  # elsewhere seccomp has no kill() anyway
        _restrict(struct.pack("=QQQ", 0, 0, 0b11), [])


def _restrict(attributes: bytes, rules: list[tuple[int, int]]) -> None:
    """Take these rights away, but for those at the descriptors of the rules."""
    ruleset = _checked(_libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0))
    for descriptor, rights in rules:
        _checked(_libc.syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, descriptor), 0))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    _checked(_libc.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


# ------------------------------------------------------------------ seccomp: which system calls exist

# What computing needs: files that Landlock lets through, memory, threads, clocks. Whatever is not named is
# refused: no process, no program, no socket, no signal to another, no chmod, no mount, no ptrace, no bpf; and no
# question who this user is, because only root can become nobody.
_CALLS = {
    "x86_64": (
        0xC000003E,
        "0 1 3 4 5 6 8 9 10 11 12 13 14 15 17 19 20 21 22 23 24 25 28 32 33 35 36 37 38 39 7 60 61 79 95 96 97"
        " 98 99 100 110 111 131 137 138 158 186 201 213 217 218 219 228 229 230 231 232 233 2"
        " 257 262 269 270 271 273 274 281 290 291 292 293 318 324 332 334 439 44 45 48 51 54 80 81",
    ),
    "aarch64": (
        0xC00000B7,
        "63 64 57 80 79 62 222 226 215 216 214 134 135 139 132 67 65 66 48 439 59 72 73 124 233 23 24 101 115"
        " 172 178 173 93 94 99 100 293 278 56 61 17 163 179 153 165 113 114 169 103 102 96 283 20 21 22"
        " 19 128 291 43 44 166 206 207 210 208 204 260 49 50",
    ),
}
_ASKED = {  # clone, clone3, prlimit64, getpgid, getsid, sched_getaffinity, socketpair, ioctl, fcntl, getsockopt, futex
    "x86_64": (56, 435, (302, 121, 124, 204), 53, 16, 72, 55, 202),  # allowed for some arguments only
    "aarch64": (220, 435, (261, 155, 156, 123), 199, 29, 25, 209, 98),
}
_ALLOW, _NO, _MISSING, _KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000  # EPERM, ENOSYS
_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_FCNTL = (0, 1, 2, 3, 4, 1030)  # duplicate, get and set flags: nothing that names another process
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # is it a terminal, how much is waiting, close on exec
_SOCKOPT = (3, 4, 7, 8, 38, 39)  # type, error, buffers, protocol, family: nothing that says who is at the other end
_PRIVATE = 128  # a futex of this process alone
_WAIT = (0, 9, 256, 265)  # the end of a thread is waited for by a shared one; with nobody who may wake it, it tells nothing


def _program(machine: str) -> bytes:
    if machine not in _CALLS:
        raise OSError(f"no list of system calls for {machine}")
    architecture, numbers = _CALLS[machine]
    clone, clone3, of_a_process, pair, control, descriptor, option, futex = _ASKED[machine]
    lines: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, 0, 1, 0x40000000),  # the x32 face of x86_64 numbers its calls from here
        (_RETURN, 0, 0, _NO),
    ]
    for number in map(int, numbers.split()):
        lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    # With EPERM glibc cannot start a thread; with ENOSYS it falls back to clone.
    lines += [(_EQUAL, 0, 1, clone3), (_RETURN, 0, 0, _MISSING)]
    asked = [  # a call, the place of an argument, and its bits and values with which the call is allowed
        (clone, 16, (CLONE_THREAD,), ()),  # a thread, not a process
        *((call, 16, (), (0,)) for call in of_a_process),  # of this process: another would tell that it is there
        (pair, 16, (), (1,)),  # two sockets connected to each other (event loops wake up with them), no other family
        (control, 24, (), _IOCTL), (descriptor, 24, (), _FCNTL), (option, 32, (), _SOCKOPT), (futex, 24, (_PRIVATE,), _WAIT),
    ]  # fmt: skip
    for call, place, bits, values in asked:
        tests = [*((_ANY_BIT, bit) for bit in bits), *((_EQUAL, value) for value in values)]
        lines += [(_EQUAL, 0, 2 + 2 * len(tests), call), (_LOAD, 0, 0, place)]
        for test, value in tests:
            lines += [(test, 0, 1, value), (_RETURN, 0, 0, _ALLOW)]
        lines.append((_RETURN, 0, 0, _NO))
    lines.append((_RETURN, 0, 0, _NO))
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


@functools.cache
def filter_code() -> ctypes.Array[ctypes.c_char]:
    """The filter for this machine; made once, before any fork."""
    return ctypes.create_string_buffer(_program(platform.machine()))


def seccomp() -> None:
    """Refuse every system call that is not on the list, for this process and for good."""
    code = filter_code()
    program = struct.pack("@HxxxxxxP", (len(code) - 1) // 8, ctypes.addressof(code))
    buffer = ctypes.create_string_buffer(program)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, 2, ctypes.c_void_p(ctypes.addressof(buffer)))


# ------------------------------------------------------------------ limits


def address_space() -> int:
    """Bytes of address space in use; 0 where the system does not say."""
    if not os.path.exists("/proc/self/statm"):
        return 0
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def threads_of_this_user() -> int:
    """How many threads run as this user; 0 where the system does not say."""
    count = 0
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        # A process may end while we look at it.
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{name}/task"))
    return count


def limits(*, memory: int, cpu: int, processes: int, files: int) -> None:
    """Bytes of address space, seconds of processor, threads and processes, open files; none can be raised again."""
    wanted = {"AS": memory, "CPU": cpu, "NPROC": processes, "NOFILE": files, **dict.fromkeys(("FSIZE", "CORE"), 0)}
    for name, value in (wanted | {"MEMLOCK": 0, "MSGQUEUE": 0}).items():
        if hasattr(resource, f"RLIMIT_{name}"):
            kind = getattr(resource, f"RLIMIT_{name}")
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, value))
