"""The text of a lesson: titles, hints, right and wrong answers, and what the student is told, read from its Markdown file.

You will meet a `Piece` (a heading, an item, a quote or a block of code), an `Answer` (an item that shows code) and a `Section`
(an exercise while it is read). Oracles, probes and preludes are Python; docs/authors.md shows the grammar by an example.
"""

from __future__ import annotations

import ast
import dataclasses
import linecache
import re
import textwrap
from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from types import CodeType
from typing import Any

from . import exercise as makers
from .exercise import Before, Exercise, Later, Lesson, Wrong

__all__ = ["MISCONCEPTIONS", "Answer", "Piece", "Section", "TextError", "lesson", "sections", "text_of", "words"]

LINE = re.compile(r"( *)((?:#{1,3}|-|\d+\.)(?= )|>|```|)(.*)")
TOKEN = re.compile(
    r"``(?P<two>.+?)``|`(?P<one>[^`]+)`|\*\*(?P<name>.+?)\*\*|(?P<belief>M\d\d)\b"
    r"|(?P<word>→|->|\b(?:and|without|when|like|file|everywhere)\b)|[,\s]+|(?P<odd>\S+)"
)
DEFINITION = re.compile(r"(?:@.*\n)*[^\s@#].*\n(?:(?:[ \t)\]}#].*)?\n)*")
PARTS = ("Hints", "Asks", "Right", "Wrong", "Options", "Items", "Order")
FACTS = ("idea", "after", "introduces", "misconceptions", "with engine", "locked")
HOLDS = "facts, as in '- minutes: 5', and the headings ### " + ", ".join(PARTS)
READS = "code in backticks, a **name**, M01, old → new, and, without, everywhere, when, like, file"
MISCONCEPTIONS = Path(__file__).with_name("data") / "misconceptions.md"
Code = Mapping[str, Mapping[str, Any]]


class TextError(ValueError):
    """A text that cannot be read: the file, the line, what is there and what may be there."""

    def __init__(self, file: Path, line: int, says: str) -> None:
        super().__init__(f"{file.name}, line {line}: {says}")


@dataclasses.dataclass
class Piece:
    """One thing in the file, with the line on which it begins; below a heading or an item, what belongs to it."""

    mark: str
    text: str
    line: int
    inside: bool
    below: list[Piece] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Answer:
    """A right or a wrong answer as its item has it: whole code, or edits of a file or of the first right answer."""

    line: int
    name: str = ""
    belief: str = ""
    says: str = ""
    when: str = ""
    like: str = ""
    file: str = ""
    code: str = ""
    # this text, the text in its place, and whether it may stand there several times
    edits: list[tuple[str, str, bool]] = dataclasses.field(default_factory=list)


def words(text: str) -> str:
    """The text without the backslashes that keep Markdown from reading `*` and `_` as marks."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


def pieces(file: Path) -> Iterator[Piece]:
    """The things in a file, in order. A line without a mark continues the one above."""
    now: Piece | None = None
    for number, line in enumerate([*file.read_text(encoding="utf-8-sig").splitlines(), ""], 1):
        if "\t" in line:
            raise TextError(file, number, "a tab: indent with spaces")
        indent, mark, rest = re.fullmatch(LINE, line).groups()  # type: ignore[union-attr]  # it fits every line
        if now and now.mark.startswith("```") and line.strip() != "```":
            now.text += f"{line}\n"
        elif now and now.mark.startswith("```"):
            now.text = textwrap.dedent(now.text)
            yield now
            now = None
        elif now and rest and mark != "```" and (not mark or mark == now.mark == ">"):
            now.text += f" {rest.strip()}"
        else:
            if now:
                yield now
            mark, rest = (f"```{rest.strip()}", "") if mark == "```" else (mark, rest.strip())
            now = Piece(mark, rest, number, bool(indent)) if mark or rest else None
    if now:
        raise TextError(file, now.line, "this block of code has no end: a line of ``` closes it")


def grouped(found: Iterator[Piece]) -> list[Piece]:
    """The pieces, each below its heading or its item."""
    above = {0: Piece("", "", 0, False)}
    for piece in found:
        depth = len(piece.mark) if piece.mark.startswith("#") else 5 if piece.inside else 4
        above[max(level for level in above if level < depth)].below.append(piece)
        above = {level: each for level, each in above.items() if level < depth} | {depth: piece}
    return above[0].below


def once(file: Path, found: Iterator[tuple[str, Piece]]) -> dict[str, Piece]:
    """Each piece by its name; a second one of a name would be lost."""
    kept: dict[str, Piece] = {}
    for name, piece in found:
        if kept.setdefault(name, piece) is not piece:
            raise TextError(file, piece.line, f"{name} stands here for the second time, first in line {kept[name].line}")
    return kept


def said(item: Piece) -> str:
    """The words to the student: the quote below an item."""
    return " ".join(words(part.text) for part in item.below if part.mark == ">")


def body(source: str) -> str:
    """Statements as they are; of an expression, the statement that returns it."""
    try:
        ast.parse(source, mode="eval")
    except SyntaxError:
        return source
    return f"return {source}"


class Section:
    """One exercise while it is read; `space` is what its code may use, and each right answer joins it; `code` is what Python
    gives. Answers have most of their code in common, so `compiled` serves all exercises of a text."""

    def __init__(self, file: Path, top: Piece, space: MutableMapping[str, Any], code: Mapping[str, Any],
                 compiled: dict[str, CodeType]) -> None:  # fmt: skip
        self.file, self.top, self.space, self.code, self.compiled = file, top, ChainMap({}, space), dict(code), compiled
        self.base = ""
        self.right: Any = None
        self.known: dict[str, Answer] = {}
        self.id, _, self.title = words(top.text).partition(" ")
        headings = ((part.text, part) for part in top.below if part.mark == "###")
        self.parts = {name: heading.below for name, heading in once(file, headings).items()}
        for part in top.below:
            if part.mark not in ("###", "-") or (part.mark == "###" and part.text not in PARTS):
                raise self.error(part.line, f"{part.text!r}: an exercise holds {HOLDS}")
        found = facts(file, top)
        self.asked = dict(re.findall(r"`([\w.]+)(?:\((.*?)\))?`", found.pop("asks for", (top, ""))[1]))
        self.facts = {key: self.fact(text, p) for key, (p, text) in found.items()}

    def error(self, line: int, says: str) -> TextError:
        """For what cannot be read, where and why."""
        return TextError(self.file, line, says)

    def fact(self, text: str, item: Piece) -> Any:
        """A number, yes, a value (all of it in backticks), or words."""
        if re.fullmatch(r"`[^`]+`|[-\d.e]*\d", text):
            return self.evaluated(text.strip("`"), item.line)
        return True if text == "yes" else words(text)

    def evaluated(self, source: str, line: int) -> Any:
        """The value of an expression."""
        try:
            return eval(compile(source, f"{self.file}:{line}", "eval"), {**self.space, "right": self.right})
        except Exception as problem:
            raise self.error(line, f"{problem}: {source}") from problem

    def answer(self, item: Piece) -> Answer:
        """The item as its tokens say."""
        found, after = Answer(item.line, says=said(item)), ""
        for match in TOKEN.finditer(item.text):
            kind, text = match.lastgroup, match[match.lastgroup] if match.lastgroup else ""
            if kind in ("one", "two", "name") and after in ("when", "like", "file"):
                setattr(found, after, text)
            elif kind in ("one", "two") and after in ("→", "->"):
                found.edits.append((found.code, text, False))
                found.code = ""
            elif kind in ("one", "two") and after == "without":
                found.edits.append((text, "", False))
            elif kind in ("one", "two") and not found.code:
                found.code = text
            elif kind == "word" and text == "everywhere" and found.edits:
                found.edits[-1] = (*found.edits[-1][:2], True)
            elif kind in ("name", "belief"):
                setattr(found, kind, text)
            elif kind and kind != "word":
                raise self.error(item.line, f"what is {text!r}? Here stand {READS}")
            after = text if kind == "word" else after if not kind else ""
        for block in item.below:
            if block.mark == "```diff":
                old, new = ("".join(x[1:] + "\n" for x in block.text.splitlines() if x[:1] != sign) for sign in "+-")
                found.edits.append((old.strip("\n"), new.strip("\n"), False))
            elif block.mark.startswith("```"):
                found.code, found.line = block.text, block.line
        if bool(found.code) == bool(found.edits or found.file) or not (found.name or item.text.startswith("`")):
            raise self.error(item.line, "an answer is code in backticks, or a **name** with edits or a block of code below")
        found.name = found.name or found.code.strip() or " and ".join(f"{old} → {new}" for old, new, _ in found.edits)
        return found

    def source(self, answer: Answer) -> str:
        """The code of an answer: its own, or that of a file beside the text or of the first right answer, after its edits."""
        file = self.file.with_name(answer.file or self.file.name)
        if not file.is_file():
            raise self.error(answer.line, f"there is no file {answer.file!r} beside the text")
        source = answer.code or (file.read_text(encoding="utf-8") if answer.file else self.base)
        for old, new, several in answer.edits:
            if (times := source.count(old)) != 1 and not (several and times):
                says = f"{times} times; write 'everywhere' if all are meant" if times else "nowhere"
                raise self.error(answer.line, f"{old!r} stands {says} in {answer.file or 'the first right answer'}")
            source = source.replace(old, new)
        return source

    def made(self, answer: Answer) -> Any:
        """The answer itself: a value; a function, from its expression or its body; or all names that are asked for."""
        source = self.source(answer)
        if not self.asked:
            return self.evaluated(source.strip(), answer.line)
        (name, signature), *others = self.asked.items()
        owner, _, bare = name.rpartition(".")
        known = "|".join({part for each in self.asked for part in (each.partition(".")[0], each.rpartition(".")[2])})
        if not re.search(rf"^(?:(def|class) ({known})\b|({known})(\.\w+)? *=)", source, re.MULTILINE):
            source = f"def {bare}({signature}):\n{textwrap.indent(body(source), '    ')}"
        space = {**self.space, "right": self.right}
        self.run(f"{source.rstrip()}\n", answer.line, space)
        if not others and self.id.count(".") == 1:  # the parts of 14.8 have other names each
            return space[bare] if bare in space else space[owner]
        names = self.right or [each.partition(".")[0] for each in (*self.asked, *self.code.get("scaffold", dict)())]
        own = {each: space[each] for each in names if space.get(each) is not self.space.get(each)}
        return {**(self.right or {}), **own}

    def run(self, source: str, line: int, space: dict[str, Any]) -> None:
        """Run code definition by definition."""
        where = f"{self.file}:{line}"
        linecache.cache[where] = len(source), None, source.splitlines(keepends=True), where  # for tracebacks
        for part in DEFINITION.finditer(source):
            try:
                if part[0] not in self.compiled:
                    above = "\n" * source.count("\n", 0, part.start())
                    self.compiled[part[0]] = compile(above + part[0], where, "exec")
                exec(self.compiled[part[0]], space)
            except SyntaxError as problem:
                raise self.error(line, f"{problem.msg}: {(problem.text or source).strip()}") from problem
            except Exception as problem:
                raise self.error(line, f"{type(problem).__name__}: {problem}") from problem

    def answers(self, part: str) -> Iterator[tuple[Answer, Any]]:
        """The answers below a heading; those after it may use one by its name, and a right one in later exercises, too."""
        for item in self.parts.get(part, []):
            found = self.answer(item)
            if (first := self.known.setdefault(found.name, found)) is not found:
                says = f"the answer {found.name!r} stands here for the second time, first in line {first.line}"
                raise self.error(found.line, says)
            self.base = self.base or self.source(found)
            made = self.made(found)
            self.right = made if self.right is None else self.right
            if (name := found.name.replace(" ", "_")).isidentifier() and self.asked:
                for space in self.space.maps[: 1 + (part == "Right")]:
                    space.setdefault(name, made)
            yield found, made

    def wrong(self) -> tuple[Wrong, ...]:
        """The wrong answers, each with what it says or what the one says that it is like."""
        every: list[Wrong] = []
        for found, made in self.answers("Wrong"):
            if found.like:
                if found.like not in self.known:
                    raise self.error(found.line, f"no answer above is called {found.like!r}")
                other = self.known[found.like]
                found.says, found.belief = found.says or other.says, found.belief or other.belief
                found.like = other.like = other.like or other.name
            if not found.says and not found.belief:
                raise self.error(found.line, "nothing is said to the student: write a quote below, '  > ...'")
            when = self.evaluated(f"lambda answer: {found.when}", found.line) if found.when else None
            every.append(Wrong(made, self.belief(found.belief, found.line), found.says, found.like, when, found.name))
        return tuple(dataclasses.replace(w, alike=w.name) if any(v.alike == w.name for v in every) else w for w in every)

    def belief(self, id: str, line: int) -> str:
        """The id of a misconception, if there is one of this number."""
        if id and f"\n## {id} " not in MISCONCEPTIONS.read_text(encoding="utf-8"):
            raise self.error(line, f"there is no misconception {id}")
        return id

    def exercise(self) -> Exercise:
        """The exercise that it declares."""
        given: dict[str, Any] = {**self.facts, **self.code}
        rights = [made for _, made in self.answers("Right")]
        kind = given.pop("kind", "function")
        # Most answers are right: wrong ones are made when they are needed.
        wrong: Any = [*self.wrong()] if "Options" in self.parts or kind not in ("function", "program") else Later(self.wrong)
        for item, option in self.rows("Options", r"(\w+): (.+?)(?: \((M\d\d)\))?", "- a: its words (M01)"):
            given.setdefault("options", {})[option[1]] = words(option[2])
            if option[1] != given.get("right"):
                wrong.append(Wrong(option[1], self.belief(option[3] or "", item.line), said(item)))
        if odd := given.keys() - {each.name for each in dataclasses.fields(Exercise)} - {"name"}:
            raise self.error(self.top.line, f"an exercise has no {', '.join(sorted(odd))!r}")
        for each in dataclasses.fields(Exercise):
            if each.type in ("int", "float") and type(given.get(each.name, 0)) not in (int, float):
                raise self.error(self.top.line, f"{each.name} is a number, and not {given[each.name]!r}")
        given |= {"name": list(self.asked) or given.pop("name", "")} if kind not in ("prediction", "one_of") else {}
        given |= {"alternatives": rights} if kind in ("function", "program") else {}
        lists = {part: tuple(words(item.text) for item in items) for part, items in self.parts.items()}
        given |= {key: lists[key.title()] for key in ("asks", "items") if key.title() in lists}
        if empty := [name for name, below in self.parts.items() if not below]:
            raise self.error(self.top.line, f"there is nothing below ### {empty[0]}")
        given |= {"inputs": tuple(given["inputs"].split(", "))} if "inputs" in given else {}
        given |= {"without": frozenset(re.split(r"[,\s]+", given["without"]))} if "without" in given else {}
        if kind == "ordering":
            rules = self.rows("Order", r"(\d+) before (\d+)(?: (M\d\d))?", "- 1 before 3 M21")
            given["before"] = [Before(int(rule[1]), int(rule[2]), self.belief(rule[3] or "", item.line), said(item))
                               for item, rule in rules]  # fmt: skip
        given |= {"wrong": wrong} if kind not in ("ordering", "one_of") else {}
        try:
            id = ".".join(self.id.split(".")[:2])  # a part of 14.8 is 14.8 as well
            made: Exercise = getattr(makers, kind)(id, title=self.title, hints=lists.get("Hints", ()), **given)
        except (AttributeError, TypeError, ValueError) as problem:
            raise self.error(self.top.line, f"these facts make no exercise: {problem}") from problem
        return made

    def rows(self, part: str, form: str, example: str) -> Iterator[tuple[Piece, re.Match[str]]]:
        """The items below a heading, each in the form that they all have."""
        for item in self.parts.get(part, []):
            if not (row := re.fullmatch(form, item.text)):
                raise self.error(item.line, f"{item.text!r}: below ### {part} stands '{example}'")
            yield item, row


def facts(file: Path, top: Piece) -> dict[str, tuple[Piece, str]]:
    """The facts below a heading: for each key its item and its text."""
    found = once(file, ((item.text.partition(": ")[0], item) for item in top.below if item.mark == "-"))
    for item in found.values():
        if ": " not in item.text:
            raise TextError(file, item.line, f"{item.text!r}: a fact is '- key: value'")
    return {key: (item, item.text.partition(": ")[2]) for key, item in found.items()}


def text_of(python: str) -> Path:
    """The text beside a lesson's Python file: 05_vectors.md of l05_vectors.py."""
    return Path(python).with_name(f"{Path(python).stem[1:]}.md")


def sections(file: Path, space: Mapping[str, Any], code: Code, title: str = r"\d+ ") -> tuple[Piece, list[Section]]:
    """The heading of a text, which begins with `title`, and its exercises; `code` is what each of them has in Python."""
    top, *more = grouped(pieces(file)) or [Piece("", "", 1, False)]
    if more or top.mark != "#" or not re.match(title, top.text):
        odd = more[0] if more and top.mark == "#" else top
        raise TextError(file, odd.line, "a text has one heading '# 05 its title', and all else below it")
    for part in top.below:
        if part.mark not in ("##", "-") or (part.mark == "##" and not re.match(r"\d+\.\w+\b", part.text)):
            raise TextError(file, part.line, f"{part.text!r}: here stand facts, as in '- after: 05', and '## 5.1 its title'")
    parts = once(file, ((part.text.split()[0], part) for part in top.below if part.mark == "##"))
    if not parts:
        raise TextError(file, top.line, "there is no exercise: '## 5.1 its title' begins one")
    if unknown := code.keys() - parts.keys():
        raise TextError(file, 1, f"Python declares exercise {', '.join(sorted(unknown))}, and the text has none")
    compiled: dict[str, CodeType] = {}
    shared = {**space}
    return top, [Section(file, part, shared, code.get(id, {}), compiled) for id, part in parts.items()]


def lesson(python: str, space: Mapping[str, Any], code: Code) -> Lesson:
    """The lesson of a Python file and the text beside it; TextError, with its line, if the text cannot be read."""
    file = text_of(python)
    top, found = sections(file, space, code)
    number, _, title = words(top.text).partition(" ")
    found_facts = facts(file, top)
    for key, (item, _) in found_facts.items():
        if key not in FACTS:
            raise TextError(file, item.line, f"{key!r}: the facts of a lesson are {', '.join(FACTS)}")
    given = {key: text for key, (_, text) in found_facts.items()}
    if "idea" not in given:
        raise TextError(file, top.line, "a lesson has an idea: '- idea: one sentence for the index'")
    lists = {key: tuple(re.findall(r"[^\s,`]+", given.get(key, ""))) for key in ("introduces", "misconceptions")}
    after = tuple(int(each) for each in re.findall(r"\d+", given.get("after", "")))
    for each in found:
        if parts := [part.exercise() for part in found if part.id.startswith(f"{each.id}.")]:
            each.code["one_of"] = parts
    made = tuple(each.exercise() for each in found if each.id.count(".") == 1)
    return Lesson(int(number), file.stem, title, made, after, words(given["idea"]), **lists,
                  with_engine="with engine" in given, locked="locked" in given, sections=tuple(found))  # fmt: skip
