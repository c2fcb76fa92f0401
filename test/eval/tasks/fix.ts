// Tasks: a bug that a failing test shows. Judged by the test as it was given and by further cases.
import { pythonOutput } from "../execute.ts";
import { tasksOf, type Files } from "../task.ts";

const median = "def median(values):\n    ordered = sorted(values)\n    middle = len(ordered) // 2\n    return ordered[middle]\n";
const medianTest = "from median import median\n\nassert median([3, 1, 2]) == 2\nassert median([4, 1, 3, 2]) == 2.5, median([4, 1, 3, 2])\nprint('ok')\n";
const slug = "def slug(title):\n    return title.lower().replace(' ', '-')\n";
const slugTest = "from slug import slug\n\nassert slug('Hello World') == 'hello-world'\nassert slug('  Two  spaces ') == 'two-spaces', slug('  Two  spaces ')\nprint('ok')\n";
const pages = "def page(items, number, size):\n    \"\"\"Pages are counted from 1.\"\"\"\n    start = number * size\n    return items[start:start + size]\n";
const pagesTest = "from pages import page\n\nletters = list('abcdefg')\nassert page(letters, 1, 3) == ['a', 'b', 'c'], page(letters, 1, 3)\nassert page(letters, 3, 3) == ['g']\nprint('ok')\n";
const tags = "def add_tag(tag, tags=[]):\n    tags.append(tag)\n    return tags\n";
const tagsTest = "from tags import add_tag\n\nassert add_tag('a') == ['a']\nassert add_tag('b') == ['b'], 'tags of an earlier call are still there'\nassert add_tag('c', ['x']) == ['x', 'c']\nprint('ok')\n";
const clock = "def clock(seconds):\n    \"\"\"Minutes and seconds as a stopwatch shows them.\"\"\"\n    return f'{seconds // 60}:{seconds % 60}'\n";
const clockTest = "from clock import clock\n\nassert clock(75) == '1:15'\nassert clock(65) == '1:05', clock(65)\nprint('ok')\n";
const bookings = "def overlaps(a, b):\n    \"\"\"Whether two bookings, each (start, end), share any time. One may begin when the other ends.\"\"\"\n    return a[0] < b[0] < a[1]\n";
const bookingsTest = "from bookings import overlaps\n\nassert overlaps((9, 12), (10, 11))\nassert not overlaps((9, 10), (10, 12))\nassert overlaps((10, 11), (9, 12)), 'the second begins before the first'\nprint('ok')\n";

/** The given test passes, and so do these further assertions. */
function passes(after: Files, test: string, more: string): boolean {
  return pythonOutput({ ...after, "judge.py": `${after[test] ?? "raise SystemExit(1)"}\n${more}\nprint('judged')\n` }, "judge.py")?.trimEnd().endsWith("judged") === true;
}

export const fixTasks = tasksOf("fix", [
  {
    name: "fix-median-even",
    prompt: "test_median.py fails. Find out why and fix median.py.",
    files: { "median.py": median, "test_median.py": medianTest },
    disk: { "median.py": () => true },
    holds: (_reply, after) => passes(after, "test_median.py", "assert median([10, 20]) == 15\nassert median([5]) == 5\nassert median([9, 7, 8, 1, 2]) == 7"),
    solution: { reply: "Fixed.", changes: { "median.py": median.replace("    return ordered[middle]\n", "    if len(ordered) % 2:\n        return ordered[middle]\n    return (ordered[middle - 1] + ordered[middle]) / 2\n") } },
    wrong: [
      { reply: "Fixed.", changes: { "median.py": "def median(values):\n    return 2 if len(values) == 3 else 2.5\n" } },
      { reply: "Fixed.", changes: { "test_median.py": "print('ok')\n" } },
    ],
  },
  {
    name: "fix-slug-spaces",
    prompt: "python3 test_slug.py gives an AssertionError, can you repair slug.py? Leave the test alone.",
    files: { "slug.py": slug, "test_slug.py": slugTest },
    disk: { "slug.py": () => true },
    holds: (_reply, after) => passes(after, "test_slug.py", "assert slug('One   more  Time') == 'one-more-time'\nassert slug('x') == 'x'"),
    solution: { reply: "Repaired.", changes: { "slug.py": "def slug(title):\n    return '-'.join(title.lower().split())\n" } },
    wrong: [{ reply: "Repaired.", changes: { "slug.py": "def slug(title):\n    return title.strip().lower().replace('  ', ' ').replace(' ', '-')\n" } }],
  },
  {
    name: "fix-paging",
    prompt: "There's a bug in pages.py that test_pages.py shows. Please fix it.",
    files: { "pages.py": pages, "test_pages.py": pagesTest },
    disk: { "pages.py": () => true },
    holds: (_reply, after) => passes(after, "test_pages.py", "assert page(letters, 2, 2) == ['c', 'd']\nassert page(letters, 1, 10) == letters\nassert page(letters, 5, 3) == []"),
    solution: { reply: "The start was one page too far.", changes: { "pages.py": pages.replace("number * size", "(number - 1) * size") } },
    wrong: [{ reply: "Fixed.", changes: { "pages.py": pages.replace("number * size", "number * size - 3") } }, { reply: "Fixed.", changes: { "test_pages.py": pagesTest.replace("page(letters, 1, 3)", "page(letters, 0, 3)") } }],
  },
  {
    name: "fix-shared-default",
    prompt: "Run test_tags.py, it fails. Fix the code so that it passes.",
    files: { "tags.py": tags, "test_tags.py": tagsTest },
    disk: { "tags.py": () => true },
    holds: (_reply, after) => passes(after, "test_tags.py", "assert add_tag('d') == ['d']\nassert add_tag('e') == ['e']\nassert add_tag('f', ['y', 'z']) == ['y', 'z', 'f']"),
    solution: { reply: "The default list was shared between calls.", changes: { "tags.py": "def add_tag(tag, tags=None):\n    tags = [] if tags is None else tags\n    tags.append(tag)\n    return tags\n" } },
    wrong: [{ reply: "Fixed.", changes: { "tags.py": "def add_tag(tag, tags=[]):\n    return [tag]\n" } }],
  },
  {
    name: "fix-clock-padding",
    prompt: "clock.py shows 65 seconds as 1:5, see test_clock.py. Can you fix that?",
    files: { "clock.py": clock, "test_clock.py": clockTest },
    disk: { "clock.py": () => true },
    holds: (_reply, after) => passes(after, "test_clock.py", "assert clock(600) == '10:00'\nassert clock(9) == '0:09'\nassert clock(119) == '1:59'"),
    solution: { reply: "Fixed.", changes: { "clock.py": clock.replace("seconds % 60}", "seconds % 60:02d}") } },
    wrong: [{ reply: "Fixed.", changes: { "clock.py": clock.replace(":{seconds % 60}", ":0{seconds % 60}") } }, { reply: "Fixed.", changes: { "test_clock.py": clockTest.replace("1:05", "1:5") } }],
  },
  {
    name: "fix-room-bookings",
    prompt: "test_bookings.py stops with an error. Please find the mistake in bookings.py and put it right, the test is good as it is.",
    files: { "bookings.py": bookings, "test_bookings.py": bookingsTest },
    disk: { "bookings.py": () => true },
    holds: (_reply, after) => passes(after, "test_bookings.py", "assert overlaps((3, 6), (1, 4))\nassert overlaps((1, 4), (1, 4))\nassert not overlaps((5, 6), (1, 2))\nassert not overlaps((2, 3), (1, 2))"),
    solution: { reply: "It missed bookings that begin earlier than the first.", changes: { "bookings.py": bookings.replace("a[0] < b[0] < a[1]", "a[0] < b[1] and b[0] < a[1]") } },
    wrong: [
      { reply: "Fixed.", changes: { "bookings.py": bookings.replace("a[0] < b[0] < a[1]", "b[0] < a[1]") } },
      { reply: "Fixed.", changes: { "bookings.py": bookings.replace("a[0] < b[0] < a[1]", "a[0] <= b[1] and b[0] <= a[1]") } },
      { reply: "Fixed.", changes: { "test_bookings.py": bookingsTest.replace("assert overlaps((10, 11)", "assert not overlaps((10, 11)") } },
    ],
  },
]);
