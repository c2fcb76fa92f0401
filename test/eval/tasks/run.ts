// Tasks: run something and say what came out. The result stands in no file.
import { pythonOutput } from "../execute.ts";
import { tasksOf } from "../task.ts";

const primes = "def prime(n):\n    return n > 1 and all(n % d for d in range(2, int(n ** 0.5) + 1))\n\nfound = [n for n in range(2, 3000) if prime(n)]\nprint('last prime:', found[-1], 'of', len(found))\n";
const checks = "import sys\n\nresults = {'alpha': 2 * 3 == 6, 'beta': 7 // 2 == 4, 'gamma': len('abc') == 3}\nfor name, good in results.items():\n    print(name, 'ok' if good else 'FAILED')\nsys.exit(0 if all(results.values()) else 3)\n";
const report = "#!/bin/sh\ntotal=0\nfor n in $(cut -d, -f2 values.csv); do total=$((total + n * n)); done\necho \"checksum $total\"\n";
const broken = "import json\n\ndata = json.loads('{\"a\": 1}')\nprint(data['b'])\n";
const mix = "import sys\n\ncode = 7\nfor letter in sys.argv[1]:\n    code = (code * 31 + ord(letter)) % 9973\nprint('code', code)\n";

export const runTasks = tasksOf("run", [
  {
    name: "run-primes-script",
    prompt: "Run primes.py and tell me the last prime that it prints.",
    files: { "primes.py": primes },
    says: ["2999"],
    solution: { reply: "The last prime is 2999." },
    wrong: ["The last prime is 2997.", "The script prints the last prime below 3000.", "3001"],
  },
  {
    name: "run-checks-report",
    prompt: "run checks.py: which check fails, and what's the exit code?",
    files: { "checks.py": checks },
    says: ["beta", "3"],
    not: [/results\.items/, /\b(alpha|gamma)\b((?!beta)[^.,;\n])*\bfail/i, /exit (code|status)( is|:| of)? [0124-9]/i],
    solution: { reply: "beta fails; the exit code is 3." },
    alsoRight: ["alpha and gamma pass while beta FAILED; exit code: 3", "The check beta fails and the exit code is 3."],
    wrong: ["beta fails; the exit code is 1.", "alpha fails, exit code 3, not beta.", "All checks pass, exit code 0."],
  },
  {
    name: "run-shell-checksum",
    prompt: "What checksum does sh report.sh print?",
    files: { "report.sh": report, "values.csv": "a,17\nb,23\nc,41\nd,8\n" },
    says: [/\b2,?563\b/],
    solution: { reply: "It prints checksum 2563." },
    alsoRight: ["checksum 2563"],
    wrong: ["It prints checksum 89.", "It prints checksum $total."],
  },
  {
    name: "run-error-kind",
    prompt: "Running broken.py gives me an error. Run it, and tell me the kind of error and the line it happens on. Don't change anything.",
    files: { "broken.py": broken },
    says: ["KeyError", /\b(4|four|fourth)\b/i],
    not: [/line [1-35-9]\b/i],
    solution: { reply: "A KeyError on line 4: there is no 'b'." },
    alsoRight: ["KeyError: 'b' in line 4", "It is a `KeyError` on line 4, `print(data['b'])`."],
    wrong: ["A KeyError on line 3.", "A JSONDecodeError on line 4."],
  },
  {
    name: "run-write-and-use",
    prompt: "Write squares.py that prints the sum of the squares of the numbers 1 to 50, run it and give me the result.",
    files: {},
    says: [/\b42,?925\b/],
    disk: { "squares.py": () => true },
    holds: (_reply, after) => /\b42925\b/.test(pythonOutput(after, "squares.py") ?? "") && !/42925/.test(after["squares.py"] ?? ""),
    solution: { reply: "The result is 42925.", changes: { "squares.py": "print(sum(n * n for n in range(1, 51)))\n" } },
    alsoRight: ["42925", "The sum is 42,925."],
    wrong: [{ reply: "The result is 42925.", changes: { "squares.py": "print(42925)\n" } }, { reply: "The result is 40425.", changes: { "squares.py": "print(sum(n * n for n in range(1, 50)))\n" } }],
  },
  {
    name: "run-all-lines",
    prompt: "Use a command to find out how many lines all the .log files in var have together.",
    files: { "var/a.log": "x\n".repeat(137), "var/b.log": "y\n".repeat(268), "var/c.txt": "z\n".repeat(50) },
    says: ["405"],
    not: ["455", "404", "406"],
    solution: { reply: "405 lines together (137 and 268)." },
    alsoRight: ["137 + 268 = 405 lines"],
    wrong: ["455 lines", "137 and 268"],
  },
  {
    name: "run-with-argument",
    prompt: "Which code do I get from python3 mix.py teal?",
    files: { "mix.py": mix },
    says: [/\b7,?687\b/],
    solution: { reply: "You get code 7687." },
    alsoRight: ["code 7687", "It prints `code 7687`."],
    wrong: ["You get code 9973.", "code 7", "The script prints a code for the word teal."],
  },
]);
