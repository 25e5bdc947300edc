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

# From then on the student's code is the server: it reads each question and gives one answer to all.
SERVER = WIRE + '''
def read(n):
    out = b""
    while len(out) < n: out += os.read(3, n - len(out))
    return out
def next_ticket():
    header, payload = struct.unpack(">IQ", read(12))
    words = json.loads(read(header)); read(payload)
    return next(value for name, value in words["body"]["dict"] if name == "id")
def take_over(reply, payload=b"", arrays=()):
    asked = ticket()
    while True:
        shout(frame({"dict": [["id", asked], reply]}, payload, arrays))
        asked = next_ticket()
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
from minigrad.course.student import wire, worker
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
words = ("minigrad.course.judge.verdict", "minigrad.course.lessons", "oracle", "HMAC")
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
for name in ("minigrad.course.lessons", "minigrad.course.judge.verdict", "minigrad.course.exercise", "minigrad.record.bugs",
             "minigrad.tape", "tests.grading.classroom", "classroom", "torch", "pytest", "distributed", "nbgrader"):
    for forget in (False, True):
        if forget:
            for loaded in [m for m in sys.modules if m.startswith("minigrad") and "worker" not in m]: sys.modules.pop(loaded)
        try: hit.append(importlib.import_module(name).__name__)
        except BaseException: pass
for path in ("@REPO@/minigrad/course/lessons/l05_vectors.py", "@REPO@/minigrad/course/lessons/14_own_engine.py",
             "@REPO@/tests/grading/classroom.py"):
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
from minigrad.course.student import worker
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
    "objects that lie about being arrays": """
class Lies:
    __class__ = property(lambda s: np.ndarray)
    __array_interface__ = property(lambda s: {"shape": (3,), "typestr": "<f8", "data": (0, False), "version": 3})
    dtype, shape, ndim, size, nbytes = np.dtype(float), (3,), 1, 3, 24
    def __array__(self, *a, **k): return np.full(3, 66.0)
    def __float__(self): return 66.0
    __index__ = __int__ = lambda s: 66
    def tolist(self): return [66.0] * 3
    def __reduce__(self): return (float, (66.0,))
slope = lambda x, g: Lies()
answer = Lies()
class Counter:
    total = count = Lies()
    def add(self, n): pass
""",
    "tensors that are none": """
class Base:
    pass
Base.__name__, Base.__module__ = "Tensor", "minigrad.tensor"
class Mine(Base):
    turn = 0
    requires_grad = True
    def detach(self): return self
    def numpy(self):
        Mine.turn += 1
        return [np.full(3, 66.0), np.zeros(5), "66", Mine][Mine.turn % 4]
slope = lambda x, g: Mine()
answer = Mine()
class Counter:
    total = count = Mine()
    def add(self, n): pass
""",
    "tuples and dicts that lie": """
class T(tuple):
    _fields = ("a", "b")
    __iter__ = lambda s: iter([66.0, 66.0])
    __eq__ = lambda s, o: True
    __len__ = lambda s: 10**9
class D(dict):
    items = lambda s: [("a", 66.0)] * 10**6
    __iter__ = lambda s: iter([None])
slope = lambda x, g: T((1, D()))
answer = T((66.0, 0.0))
class Counter:
    total = D(); count = T((1, 2))
    def add(self, n): pass
""",
    "odd numbers": """
slope = lambda x, g: x + 0j
answer = np.array([66.0], dtype=object)
class Counter:
    total = np.longdouble(1); count = np.datetime64("2026-01-01")
    def add(self, n): pass
""",
    "generators and coroutines": """
async def later(*a): return 66.0
slope = later
answer = (v for v in [66.0])
class Counter:
    total = property(lambda s: later())
    count = lambda s: 1
    async def add(self, n): pass
""",
    "serves in the worker's place": SERVER + """
def slope(x, g): take_over(["value", {"array": 0}], b"\\0" * 40, [["float64", [5]]])
class Counter:
    def __init__(self): take_over(["value", {"dict": [["status", "passed"], ["points", 100]]}])
""",
    "raises in a line that cannot be": SERVER + """
def raised(line, kind="raised", value=None):
    names = ("type", "message", "text", "printed")
    return ["failure", {"dict": [[n, "x"] for n in names] + [["kind", kind], ["line", line], ["bases", []], ["value", value]]}]
def slope(x, g): take_over(raised(-10**9))
class Counter:
    def __init__(self): take_over(raised({"int": hex(-10**300)}))
""",
    "raises with a million bases": SERVER + """
record = {"dict": [["type", "x"], ["message", ""], ["text", ""], ["printed", ""], ["kind", "raised"], ["line", 1],
                   ["bases", ["x" * 5000] * 300], ["value", None]]}
def slope(x, g): take_over(["failure", record])
""",
    "a changed input of changed inputs": SERVER + """
record = [["type", ""], ["message", "x"], ["text", ""], ["printed", ""], ["kind", "changed"], ["line", None], ["bases", []]]
inner = {"dict": record + [["value", 66.0]]}
def slope(x, g): take_over(["failure", {"dict": record + [["value", inner]]}])
""",
    "a thread that answers first": WIRE + """
import threading
def answers():
    while True:
        for f in list(sys._current_frames().values()):
            while f:
                request = f.f_locals.get("request")
                if isinstance(request, dict): shout(frame({"dict": [["id", request["id"]], ["value", 66.0]]}))
                f = f.f_back
def slope(x, g):
    threading.Thread(target=answers, daemon=True).start()
    return x
""",
    "a thread that takes the questions": """
import os, threading
taken = []
def steal():
    while True: taken.append(os.read(3, 1 << 16))
def slope(x, g):
    threading.Thread(target=steal, daemon=True).start()
    return x
answer = taken
""",
    "says that it is a fresh worker": WIRE + "def slope(x, g):\n    shout(b'+')\n    return x\nshout(b'-no sandbox here')",
    "trace, profile and audit": """
import sys, threading
def spy(frame, event, arg):
    for name in ("outcome", "value", "reply"):
        if name in frame.f_locals:
            frame.f_locals[name] = {"id": "x", "value": 66.0}
    return spy
sys.settrace(spy); threading.settrace(spy); sys.setprofile(lambda *a: None)
sys.addaudithook(lambda event, args: None)
""",
    "an audit hook that refuses everything": """
import sys
def refuse(event, args): raise SystemExit(event)
sys.addaudithook(refuse)
""",
    "hooks for the end": """
import atexit, sys, threading, weakref, gc
for _ in range(3): atexit.register(lambda: open("/tmp/minigrad-left-behind", "w"))
sys.excepthook = sys.unraisablehook = threading.excepthook = lambda *a: None
gc.callbacks.append(lambda *a: globals().update(answer=66))
class Again:
    def __del__(self): Again()
Again()
weakref.finalize(Again, print)
""",
    "a timer inside the worker": """
import signal, sys
def ring(number, frame):
    while frame:
        frame.f_locals.update(outcome=66.0)
        frame = frame.f_back
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, ring); signal.signal(signal.SIGVTALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0005); signal.setitimer(signal.ITIMER_VIRTUAL, 0.001, 0.0005)
""",
    "other imports, other classes": """
import builtins, sys, importlib
real = builtins.__import__
builtins.__import__ = lambda name, *a, **k: sys.modules.get("math") or real(name, *a, **k)
builtins.__build_class__ = lambda *a, **k: float
class Yes:
    def __getattr__(self, name): return lambda *a, **k: {"value": 66.0}
for name in list(sys.modules):
    if name.startswith("minigrad"): sys.modules[name] = Yes()
""",
    "the worker's modules loaded anew": """
import importlib
from minigrad.course.student import wire, worker
from minigrad.course.grading import cells
wire.MAX_ARRAYS = wire.MAX_HEADER = wire.MAX_ITEMS = 1 << 40
wire.DTYPES["object"] = np.dtype(object)
for module in (wire, worker, cells):
    try: importlib.reload(module)
    except BaseException: pass
wire.MAX_ARRAYS = wire.MAX_HEADER = wire.MAX_ITEMS = 1 << 40
slope = lambda x, g: np.zeros(3 << 20)
answer = "6" * 1_000_000
""",
    "prints more than is kept": """
from minigrad.course.student import worker
worker.Printed.start = lambda self: "passed " * 10**6
worker.MAX_PRINTED = 10**9
slope = lambda x, g: print("6" * 10**6)
""",
    "type objects overwritten": """
import ctypes
def patch(kind, name, thing):
    ctypes.pythonapi.PyType_Modified.argtypes = [ctypes.py_object]
    d = ctypes.cast(id(kind) + kind.__dictoffset__, ctypes.POINTER(ctypes.py_object)) if kind.__dictoffset__ else None
    import gc
    for space in gc.get_referents(kind.__dict__):
        if isinstance(space, dict): space[name] = thing
    ctypes.pythonapi.PyType_Modified(kind)
for kind in (float, int, list, np.ndarray):
    for name in ("__eq__", "__sub__", "__abs__", "tobytes", "__repr__"):
        patch(kind, name, lambda *a: True)
""",
    "another's memory by other doors": """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
done = []
def door(name, what):
    try:
        if what() not in (-1, None, False): done.append(name)
    except BaseException: pass
door("shared memory", lambda: __import__("_posixshmem").shm_open("/minigrad", 0o102, 0o666))
door("shared memory by name", lambda: ctypes.CDLL("librt.so.1").shm_open(b"/minigrad", 0o102, 0o666))
door("old shared memory", lambda: libc.shmget(7077, 4096, 0o1666))
door("semaphore", lambda: libc.semget(7077, 1, 0o1666))
door("messages", lambda: libc.msgget(7077, 0o1666))
door("message queue", lambda: libc.syscall(240, b"minigrad", 0o102, 0o666, None))
door("key", lambda: libc.syscall(248, b"user", b"minigrad", b"hidden", 6, -4))
door("memory file", lambda: libc.memfd_create(b"minigrad", 0))
door("abstract socket", lambda: __import__("socket").socket(1, 2).bind("\\0minigrad") is None)
door("user fault", lambda: libc.syscall(323, 0))
door("inotify", lambda: libc.inotify_init())
door("lock", lambda: libc.flock(0, 2) == 0)
slope = lambda x, g: "hidden-" + str(done) if done else x
""",
    "hands descriptors to the grader": """
import os, socket, fcntl, array
try:
    s = socket.socket(fileno=os.dup(3))
    s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
except BaseException: pass
for flag in (os.O_NONBLOCK, getattr(os, "O_ASYNC", 0o20000), os.O_NONBLOCK | os.O_APPEND):
    try: fcntl.fcntl(3, fcntl.F_SETFL, flag)
    except BaseException: pass
for what, value in ((8, os.getppid()), (10, 9), (1024, 1), (1033, 15)):
    try: fcntl.fcntl(3, what, value)
    except BaseException: pass
""",
    "filters what the grader says": """
import ctypes, socket, os
libc = ctypes.CDLL(None)
code = (ctypes.c_char * 8)(6, 0, 0, 0, 0, 0, 0, 0)
program = (ctypes.c_char * 16).from_buffer_copy((1).to_bytes(8, "little") + ctypes.addressof(code).to_bytes(8, "little"))
for option, value in ((26, program), (7, b"\\0" * 4), (8, b"\\0" * 4), (16, b"\\1\\0\\0\\0"), (42, b"\\1\\0\\0\\0")):
    libc.setsockopt(3, 1, option, value, len(value) if isinstance(value, bytes) else 16)
""",
    "errors of no known make": """
class Meta(type):
    __mro__ = property(lambda c: 1 / 0)
    def mro(c): return [c, Exception, BaseException, object]
class Odd(Exception, metaclass=Meta):
    __traceback__ = property(lambda s: 1 / 0)
    __str__ = lambda s: 7
Odd.__name__ = "ValueError" * 1000
def slope(x, g): raise Odd
class Counter:
    def __init__(self):
        error = ValueError("deep")
        for _ in range(20_000): error = ExceptionGroup("x", [error])
        raise error
def answer(): raise GeneratorExit
""",
    "waits for nothing": "import asyncio\nawait asyncio.Event().wait()",
    "waits for itself": "import threading\nlock = threading.Lock()\ndef slope(x, g):\n    lock.acquire(); lock.acquire()",
    "many axes": "def slope(x, g): return np.zeros((6,) * 7, np.uint8)\nanswer = np.zeros((2,) * 16, np.uint8)",
    "as much as may cross": """
slope = lambda x, g: ["x" * 150_000] * 12
answer = [[0.5] * 1000] * 90
class Counter:
    total = {str(i): "y" * 15 for i in range(40_000)}; count = [np.zeros(100_000)] * 5
    def add(self, n): pass
""",
    "asks by failing": """
seen = []
def slope(x, g):
    seen.append((x.tolist(), g.tolist()))
    again = [n for n, one in enumerate(seen) if one == seen[-1]]
    return x * (len(again) - 1) * len(seen) if x.size < 3 else x * 0 + len(seen)
class Counter:
    guesses = iter(range(10**6))
    total = count = property(lambda s: next(Counter.guesses))
    def add(self, n): pass
""",
    "says what the published questions want": """
from minigrad.course.student import worker
worker.Server.run = lambda self, code, data, prelude="": [True, True]
worker.Server.call = lambda self, name, *args, **kwargs: args[0] * 0 + 12.0
worker.Server.value = lambda self, name: "66"
""",
    "the names of the checks": """
for name in ("print", "len", "list", "float", "bool", "range", "isinstance", "s", "c", "steps", "type", "sum", "np"):
    globals()[name] = lambda *a, **k: 20
""",
}  # fmt: skip

# The fourth session's.
LATER = {
    "too little stack for the worker": """
import sys
sys.setrecursionlimit(60)
""",
    "builtins of its own": """
__builtins__ = {}
__name__ = 'minigrad.course.judge.verdict'
__file__ = '/x'
__loader__ = None
""",
    "no builtins in its namespace": """
del __builtins__
""",
    "tracebacks into the connection": """
import faulthandler
faulthandler.enable(file=3); faulthandler.dump_traceback_later(0.001, repeat=True, file=3)
""",
    "a traceback in place of an answer": """
import faulthandler
def slope(x,g):
    faulthandler.dump_traceback_later(0.01, exit=True, file=3)
    while True: pass
""",
    "a pipe in place of the connection": """
import os
r, w = os.pipe()
os.dup2(r, 3)
""",
    "says no more": """
import socket
s = socket.socket(fileno=3)
s.shutdown(1)
""",
    "hears no more": """
import ctypes
ctypes.CDLL(None).shutdown(3, 0)
""",
    "half a frame before a whole one": WIRE + """
def slope(x, g):
    f = frame({'dict': [['id', ticket()], ['value', 66.0]]})
    os.write(3, f[:9])
    return x
""",
    "no blank can be seen": """
import dis, ast, linecache
dis.get_instructions = ast.parse = linecache.getlines = linecache.getline = lambda *a, **k: []
class N: pass
""",
    "arrays by every protocol": """
class A:
    def __array_function__(self, *a, **k): return np.ones(3)
    def __array_ufunc__(self, *a, **k): return np.ones(3)
    __array_priority__ = 1e9
    def __array_wrap__(self, *a): return self
slope = lambda x, g: A()
""",
    "leaves while an array is made": """
class A(np.ndarray):
    def __array_finalize__(self, o): raise SystemExit
    def __reduce__(self): raise SystemExit
slope = lambda x, g: x.view(A)
""",
    "generators that fail": """
np.random.set_state = np.random.get_state = np.random.get_bit_generator = lambda *a: 1/0
import random
random.getstate = random.setstate = lambda *a: 1/0
""",
    "outputs that leave": """
import io, sys, contextlib
class Evil:
    def write(self, t): raise SystemExit
    def flush(self): raise SystemExit
    def __getattr__(self, n): raise SystemExit
sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = sys.stdin = Evil()
contextlib.redirect_stdout = None
""",
    "errors that cannot be looked at": """
class E(Exception):
    @property
    def __class__(self): raise SystemExit
    def __getattribute__(self, n): raise KeyboardInterrupt
    def __str__(self): raise E()
    def __repr__(self): raise E()
def slope(x, g): raise E('x')
""",
    "syntax errors of no place": """
def slope(x, g):
    e = SyntaxError('x'); e.filename = '<cell 1>'; e.lineno = 10**30; e.text = 'z' * 10**7
    raise e
class Counter:
    def __init__(self):
        e = SyntaxError('x'); e.filename = '<cell 1>'; e.lineno = 'a'; e.text = [1]
        raise e
""",
    "says that the system refused": """
def slope(x, g): raise OSError(13, 'Permission denied')
class Counter:
    def __init__(self): raise OSError('[Errno 1] ' + 'z'*600)
""",
    "returns records of failures": """
from minigrad.course.student import wire
slope = lambda x, g: wire.Failure('not graded', message='m' * 10**6)
answer = wire.Failure('passed')
class Counter:
    total = count = wire.Failure('timeout')
    def add(self, n): pass
""",
    "a signature that leaves": """
import inspect
class F:
    @property
    def __signature__(self): raise SystemExit
    def __call__(self, x, g): x[:] = 0; return x
slope = F()
""",
    "a parameter of a hundred thousand letters": """
exec('def slope(' + 'a'*10**5 + ', b): ' + 'a'*10**5 + '[:] = 0; return b')
""",
    "names that are always there": """
class D(dict):
    def __getitem__(self, k): return 65.0
    def __contains__(self, k): return True
from minigrad.course.student import worker
import sys
f = sys._getframe()
while f:
    s = f.f_locals.get('self')
    if hasattr(s, 'namespace'): s.namespace = D(globals())
    f = f.f_back
""",
    "a class that leaves when asked": """
class M(type):
    def mro(c): return [c, object]
    def __getattribute__(c, n): raise SystemExit
    def __instancecheck__(c, o): return True
    def __subclasscheck__(c, o): return True
class Counter(metaclass=M):
    total = count = 0
    def add(self, n): pass
""",
    "comes back when deleted": """
class D:
    def __del__(self):
        globals()['keep'] = D()
        raise SystemExit
keep = D()
def slope(x, g):
    globals()['keep'] = None
    return x*0
""",
    "scribbles over the worker's functions": """
import ctypes
def slope(x, g):
    import minigrad.course.student.wire as w
    for o in (w.pack, w.encode, w.send, 0, 1, None, True):
        ctypes.memset(id(o) + 16, 0x41, 16)
    return x
""",
    "false is true": """
import ctypes
ctypes.memmove(id(False) + 24, id(True) + 24, 4)
ctypes.memmove(id(None) + 8, id(True) + 8, 8)
""",
    "another's memory by number": """
import ctypes, os
libc = ctypes.CDLL(None)
buf = ctypes.create_string_buffer(64)
numbers = (310, 311, 424, *range(431, 434), 434, 436, 437, 438, 440, 443, *range(447, 463))
got = [n for n in numbers if libc.syscall(n, 1, 0, 0, 0, 0, 0) >= 0]
slope = lambda x, g: 'hidden-' + str(got) if got else x
""",
    "files by every flag": """
import os, ctypes
libc = ctypes.CDLL(None)
got = []
for path in ('@SECRET@ /etc/passwd /etc/hostname /proc/version /proc/self/cmdline /sys/kernel/hostname /dev/mem /dev/kmsg /root'
             ' /home /dev/shm/x /dev/random /dev/tty /dev/null /dev/ptmx').encode().split():
    for flags in (0, 1, 2, 0o102, 0o200000, 0o20000000, 0o20200000):
        fd = libc.open(path, flags, 0o600)
        if fd >= 0:
            b = ctypes.create_string_buffer(100)
            if libc.read(fd, b, 50) > 0 or flags & 3: got.append((path, flags, b.value))
            if libc.write(fd, b'x', 1) > 0 : got.append((path, 'written'))
slope = lambda x, g: 'hidden-' + str(got) if got else x
""",
    "a thread that floods the connection": WIRE + """
import threading, time
def flood():
    junk = frame({'dict': [['id', 'f' * 16], ['value', 1]]})
    while True:
        try: os.write(3, junk)
        except OSError: return
threading.Thread(target=flood, daemon=True).start()
""",
    "imports that leave": """
import sys
class F:
    def find_spec(self, *a): raise SystemExit
sys.meta_path.insert(0, F()); sys.path_hooks.insert(0, F); sys.path.insert(0, F()); sys.path_importer_cache.clear()
""",
    "no modules": """
import sys
sys.modules.clear()
""",
    "a JSON of its own": """
import json, json.decoder, json.scanner
json.loads = lambda *a, **k: {'body': {'dict': []}, 'arrays': []}
json.decoder.scanstring = None
json.JSONDecoder.decode = lambda *a: 1/0
""",
    "reads backwards": """
import os
real = os.read
os.read = lambda fd, n: real(fd, n)[::-1]
""",
    "a number of a gigabyte": """
def slope(x, g): return 1 << 10**10
""",
    "ninety thousand brackets": "x = " + "[" * 90_000 + "]" * 90_000,
}  # fmt: skip
