// The library for hosts: `import { openSidecar } from "atomic/sidecar"`. It starts the sidecar as a child process and speaks
// its protocol; it knows nothing of the agent behind it.
export { SidecarError, type SidecarErrorCode } from "./error.ts";
export type { ApprovalAnswer, ApprovalRequest, AskApproval } from "./dialogs.ts";
export type { EventStream } from "./event-stream.ts";
export { openSidecar, type PlainRequestType, type Sidecar, type SidecarOptions } from "./sidecar.ts";
export type { SidecarEnd } from "./child.ts";
export type { Turn } from "./turn.ts";
export type * from "../wire/sidecar/schema.ts";
