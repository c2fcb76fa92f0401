// What kinds of work a request asks for, asked of the model apart from the conversation. By the first word of its first
// action a small model takes nearly everything for a question, and among many tools it takes the wrong one; asked apart, with
// examples, it knows. What is planned as a change binds the next steps to the tools for it; a question binds nothing.
import type { Engine } from "../core/engine.ts";
import { contentText, type Usage, type UserMessage } from "../core/message.ts";
import type { ToolSpec } from "../core/tool.ts";
import { answerKinds, changeKinds, lookKinds, type WorkKind } from "../core/work.ts";
import type { Conversation } from "./conversation.ts";
import { literal } from "./gbnf.ts";
import { moreExamples } from "./more-examples.ts";
import { nearestExamples, type WorkExample } from "./nearest-examples.ts";

export interface Work {
  isChange: boolean;
  kinds: ReadonlySet<WorkKind>;
}

const system = `Name the kinds of work that the user's request asks for.
answer: the user only wants to be told something.
- talk: no file is needed, it is known or can be worked out. unknown: nothing on this computer tells it. read: a fact that a file states, what it says or does, or a summary of it. compare: where two files differ. list: which files or folders there are, and how large. find: where a file is, by its name. search: which of many files hold a text. count: how many files, lines or words. compute: sum, average, maximum or order of many numbers. run: what a command or script prints or says.
change: something is to be made or changed.
- compute, count: a number or a row of a table has to be found out first. create: a new file or folder. edit: one place in a text, such as a date or a box to tick. replace: a word wherever it is. append: add at the end of a file. insert: add in the middle of a file. cut: take lines out of a file. set: give a setting a value, or add one. sort: put the lines of a file in another order. move: move or rename. copy: make a copy. delete: delete a whole file or folder. run: run a command or script.`;

const examples: readonly WorkExample[] = [
  ["How old is Ann?", "answer: read"],
  ["Which colour has the door in house.md?", "answer: read"],
  ["When does the train to Bonn leave? It should be in trips.txt.", "answer: read"],
  ["Summarize report.txt for me.", "answer: read"],
  ["Who painted the Mona Lisa?", "answer: talk"],
  ["which river is the longest in Africa", "answer: talk"],
  ["How many eggs does the cake need?", "answer: read"],
  ["What does the function load return when the file is empty?", "answer: read"],
  ["Where do a.txt and b.txt differ?", "answer: compare"],
  ["Who is on the list old.txt and not on new.txt?", "answer: compare"],
  ["Correct Bob's age in list.txt: he is 41.", "change: edit"],
  ["Write hi.sh that prints hi, run it and tell me the output.", "change: create, run"],
  ["Thanks!", "answer: talk"],
  ["Is my neighbour at home?", "answer: unknown"],
  ["What is 6 times 7?", "answer: talk"],
  ["Ask git on which branch we are.", "answer: run"],
  ["Tell me with a command how much of the disk is free.", "answer: run"],
  ["How much did we spend in May? See costs.csv", "answer: compute"],
  ["What is Ann's number in phones.csv?", "answer: read"],
  ["Rename a.txt to b.txt.", "change: move"],
  ["Put the two letters into a new folder called post.", "change: move"],
  ["Find the cheapest car in cars.csv and write only its name into car.txt.", "change: compute, create"],
  ["Is there a folder for photos?", "answer: list"],
  ["Which of the photos is the largest file?", "answer: list"],
  ["Which file speaks of Bob?", "answer: search"],
  ["Where is the class Door defined?", "answer: search"],
  ["Somewhere I noted Tom's birthday, when is it?", "answer: search"],
  ["where is photo.png", "answer: find"],
  ["Up to which size does save() in disk.py take a file, and what happens then?", "answer: read"],
  ["Put the names in the order of the alphabet.", "change: sort"],
  ["How many text files are in docs?", "answer: count"],
  ["How many words has letter.txt?", "answer: count"],
  ["Count the words of all texts with a command.", "answer: run"],
  ["Put the finished tasks into done.txt and take them out of tasks.txt.", "change: create, cut"],
  ["Take the comments out of a.js and print the rest in red.", "change: cut, edit"],
  ["Move Bob and Eve from team.txt into guests.txt.", "change: append, cut"],
  ["The bread is bought: tick it off.", "change: edit"],
  ["Turn on the cache in app.toml.", "change: set"],
  ["First keep a copy of tree.json as old.json, then set depth to 3 in tree.json.", "change: copy, set"],
  ["Add the option depth with the value 3 to tree.json.", "change: set"],
  ["add a command clean to tasks.json that runs rm", "change: set"],
  ["put colour=red into the screen section of tv.ini", "change: set"],
  ["The tea costs 3 now in prices.json, and there is milk for 2 too.", "change: set"],
  ["Who is the oldest in people.csv?", "answer: compute"],
  ["which town has the most people", "answer: compute"],
  ["Call Bob Rob from now on in all of notes.md.", "change: replace"],
  ["Correct our address in all the .txt files in letters.", "change: replace"],
  ["Run hi.sh and tell me what it prints. Leave it as it is.", "answer: run"],
  ["Run all.sh: does it end well?", "answer: run"],
  ["Read first.md, go where it points, and tell me what stands at the end.", "answer: read"],
  ["sh all.sh ends with an error, mend it.", "change: run, edit"],
  ["Add Eve to the names and delete old.txt.", "change: append, delete"],
  ["Remove Bob's row from names.csv.", "change: cut"],
  ["Put a line with the date below the title.", "change: insert"],
  ["Add Eve to names.txt, after Bob.", "change: insert"],
  ["Fix the function add, its test fails: run test_add.py.", "change: run, edit"],
  ["What is MAX in limits.py?", "answer: read"],
];

/** Each costs about 25 tokens for every request, where the others are read once a model. */
const nearestMax = 3;
const kindsMax = 3;
const tokensMax = 24;
/** Of the first and the last characters of a longer request, half each. */
const requestCharsMax = 1200;

const grammar = `root ::= "answer: " answer (", " answer)? | "change: " change (", " change){0,${kindsMax - 1}}
answer ::= ${answerKinds.map(literal).join(" | ")}
change ::= ${[...lookKinds, ...changeKinds].map(literal).join(" | ")}`;

export interface WorkPlanOptions {
  engine: Engine;
  tools: readonly ToolSpec[];
  signal: AbortSignal;
  /** Told what the question used. */
  spend: (usage: Usage) => void;
}

/** Asks once for each message of the user; in one turn the kinds add up, and a change stays one. */
export class WorkPlan {
  readonly #options: WorkPlanOptions;
  #asked: UserMessage | undefined;
  #work: Work | undefined;

  constructor(options: WorkPlanOptions) {
    this.#options = options;
  }

  /** undefined when it can't be known. */
  get work(): Work | undefined {
    return this.#work;
  }

  /** What is done already, or done by something else; never all that there is to do. */
  leaveOut(...done: readonly WorkKind[]): void {
    const kinds = this.#work && [...this.#work.kinds].filter((kind) => !done.includes(kind));
    if (this.#work && kinds && kinds.length > 0) this.#work = { ...this.#work, kinds: new Set(kinds) };
  }

  /** What was taken for talk is about a file that is called so. */
  lookIntoFiles(): void {
    this.#work = { isChange: false, kinds: new Set(["read"]) };
  }

  /** Takes the user's newest message into account. */
  async take(conversation: Conversation): Promise<void> {
    const message = conversation.lastUserMessage();
    if (message === undefined || message === this.#asked) return;
    this.#asked = message;
    const asked = await this.#ask(contentText(message.content));
    if (!asked) return;
    const before = this.#work;
    this.#work = before ? { isChange: before.isChange || asked.isChange, kinds: new Set([...before.kinds, ...asked.kinds]) } : asked;
  }

  async #ask(request: string): Promise<Work | undefined> {
    const { engine, signal, spend, tools } = this.#options;
    if (engine.kind !== "text" || engine.answersApart?.() !== true || !tools.some(({ serves }) => serves) || request.trim() === "") return undefined;
    const near = nearestExamples(request, moreExamples, nearestMax);
    const chat = [
      { role: "system" as const, text: system },
      ...[...examples, ...near].flatMap(([asked, work]) => [{ role: "user" as const, text: asked }, { role: "assistant" as const, text: work }]),
      { role: "user" as const, text: shortened(request) },
    ];
    let answer = "";
    for await (const event of engine.complete({ purpose: "plan", chat, varying: 2 * near.length + 1, grammar, temperature: 0, maxTokens: tokensMax, signal })) {
      if (event.type === "text") answer += event.text;
      else if (event.type === "ended" || event.type === "failed") spend(event.usage);
    }
    return workOf(answer);
  }
}

/** undefined for an answer that was cut. */
function workOf(answer: string): Work | undefined {
  const [goal, kinds = ""] = answer.split(": ");
  const known: readonly string[] = goal === "change" ? [...lookKinds, ...changeKinds] : answerKinds;
  const named = kinds.split(", ").filter((kind): kind is WorkKind => known.includes(kind));
  return named.length === 0 ? undefined : { isChange: goal === "change", kinds: new Set(named) };
}

/** Whether the tool is for work of these kinds; one that serves none in particular is for every work. */
export function isFor({ serves }: Pick<ToolSpec, "serves">, { kinds }: Work): boolean {
  return serves === undefined || serves.some((kind) => kinds.has(kind));
}

/** Nothing but this kind of work is asked for. */
export function isOnly({ kinds }: Work, kind: WorkKind): boolean {
  return kinds.size === 1 && kinds.has(kind);
}

/** Nothing on this computer is needed for it, or can help. */
export function isTalk({ kinds }: Work): boolean {
  return kinds.has("talk") || kinds.has("unknown");
}

function shortened(request: string): string {
  if (request.length <= requestCharsMax) return request;
  const half = requestCharsMax / 2;
  return `${request.slice(0, half).toWellFormed()} … ${request.slice(-half).toWellFormed()}`;
}
