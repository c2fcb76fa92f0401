// Which parts of a file a text names.
import { expect, test } from "bun:test";
import { namedThings } from "../../../src/core/named-things.ts";

test.each([
  ["a function by its kind", "In g.py, what does the function volume return for a sphere?", ["volume"]],
  ["a call", "How many percent does discount() take off?", ["discount"]],
  ["what is called so", "Is there a class called Boat?", ["Boat"]],
  ["quoted, before or behind its kind", "What is in the \"Budget\" section and in the key `max_users`?", ["max_users", "Budget"]],
  ["each once", "Does the function f call f()?", ["f"]],
  ["no word that only follows", "Which function is called first? Is the key to it in the section on tools?", []],
  ["nothing that looks like a path", "What does the function a.b do? What is in key points?", []],
])("%s", (_name, text, things) => {
  expect(namedThings(text)).toEqual(things);
});
