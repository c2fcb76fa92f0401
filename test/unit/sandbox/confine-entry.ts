// Stands in for the executable's hidden sub-command where the tests run from source.
import { runConfineChild } from "../../../src/sandbox/confine-child.ts";

runConfineChild(process.argv.slice(3));
