// Every task of the evaluation.
import type { Task } from "../task.ts";
import { appendTasks } from "./append.ts";
import { compareTasks } from "./compare.ts";
import { countTasks } from "./count.ts";
import { createTasks } from "./create.ts";
import { csvTasks } from "./csv.ts";
import { editManyTasks } from "./edit-many.ts";
import { editOneTasks } from "./edit-one.ts";
import { findTasks } from "./find.ts";
import { fixTasks } from "./fix.ts";
import { impossibleTasks } from "./impossible.ts";
import { iniTasks } from "./ini.ts";
import { jsonTasks } from "./json.ts";
import { listTasks } from "./list.ts";
import { markdownTasks } from "./markdown.ts";
import { moveTasks } from "./move.ts";
import { noToolTasks } from "./no-tool.ts";
import { readTasks } from "./read.ts";
import { removeTasks } from "./remove.ts";
import { renameTasks } from "./rename.ts";
import { runTasks } from "./run.ts";
import { severalFilesTasks } from "./several-files.ts";
import { severalStepsTasks } from "./several-steps.ts";
import { trapTasks } from "./traps.ts";

export const tasks: readonly Task[] = [
  readTasks, listTasks, countTasks, findTasks, compareTasks,
  createTasks, editOneTasks, editManyTasks, fixTasks, renameTasks, moveTasks, removeTasks, appendTasks,
  jsonTasks, iniTasks, csvTasks, markdownTasks,
  runTasks, severalFilesTasks, severalStepsTasks,
  noToolTasks, impossibleTasks, trapTasks,
].flat();
