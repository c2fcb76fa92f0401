// Every bound of the program. Whatever is cut at one of these says so where it is cut.

export const limits = {
  /** Lines of a tool result (json-mode.md T1). */
  resultLinesMax: 2000,
  /** Bytes of a tool result (json-mode.md T1); on small windows min(this, contextWindow). */
  resultBytesMax: 51_200,
  /** A matching line of fs.grep is cut to this many characters around the hit. */
  grepLineCharsMax: 500,
  /** Longest input line of either wire, without its LF. */
  inputLineBytesMax: 16 * 1024 * 1024,
  /** Head of an over-long line that is quoted back. */
  quotedLineBytesMax: 1024,
  /** Output waiting for a slow reader before the loop pauses. */
  pendingOutputBytesMax: 1024 * 1024,
  /** Calls of one message that are executed; further ones get an error result. */
  callsPerStepMax: 16,
  /** Updates of one running tool are at least this far apart. */
  toolUpdateIntervalMs: 100,
  /** Between SIGTERM and SIGKILL for a tool's process group. */
  killGraceMs: 500,
  /** Closing events after the first signal. */
  shutdownMs: 2000,
  /** Closing events after an abort that nobody outside waits for: an abort command, `--timeout`. */
  abortMs: 10_000,
  /** Part of `shutdownMs` that is kept for the last lines to leave. */
  lastFlushMs: 400,
  /** Files that fs.edit and fs.read take whole into memory. */
  editFileBytesMax: 64 * 1024 * 1024,
  /** A file whose table is taken whole into memory. */
  tableBytesMax: 4 * 1024 * 1024,
  tableColumnsMax: 1000,
  /** Files of a folder that are taken for one table. */
  tableFilesMax: 200,
  /** Files that fs.count names one by one; further ones are only in the sums. */
  countedFilesShownMax: 20,
  /** An image that fs.read hands on. */
  imageBytesMax: 5 * 1024 * 1024,
  /** Whole output of a command that is kept in a file when the result shows only its end. */
  keptOutputBytesMax: 64 * 1024 * 1024,
  /** One look of fs.grep at a line; a pattern that takes longer is given up with an error. */
  patternMatchMs: 250,
  /** Entries that a search in folders looks at. */
  searchedEntriesMax: 200_000,
  /** Paths outside the workspace that the user wrote about or granted; the oldest go first. */
  readablePathsMax: 200,
  /** Files that one reply attaches. */
  attachmentsMax: 10,
  /** What a skill of a project may hold to be trusted. */
  skillFilesMax: 1000,
  skillBytesMax: 64 * 1024 * 1024,
  /** Texts that a session's state shows as known. */
  knownFactsMax: 200,
  /** Pending steering texts of one turn. */
  steeringMax: 16,
  /** Standard input or one @FILE as a part of a prompt. */
  promptPartBytesMax: 16 * 1024 * 1024,
  /** How long a pipe beside a given prompt may stay silent before it is left alone. */
  stdinWaitMs: 200,
  /** Configuration file. */
  configBytesMax: 16 * 1024 * 1024,
  /** One ranged request of a download; so much of each connection waits in memory at most. */
  downloadRangeBytesMax: 8 * 1024 * 1024,
  downloadConnectionsMax: 16,
  /** A source of weights that has a successor is given up when its first byte takes longer. */
  downloadContactMs: 10_000,
  /** A download that brings no byte for so long is tried again. */
  downloadStallMs: 30_000,
  /** Failures in a row, without a byte in between, before a source is given up. */
  downloadRetriesMax: 5,
  /** Longest wait between two tries, also when a server asks for more. */
  downloadRetryDelayMs: 30_000,
  /** A package installer that writes nothing for so long is ended. */
  packageStallMs: 120_000,
  /** Left free on the disk beside a download. */
  freeSpaceMarginBytes: 64 * 1024 * 1024,
  /** Central directory of a package. */
  wheelDirectoryBytesMax: 16 * 1024 * 1024,
  /** A model file's header: what may stand in it before native code sees the file. */
  ggufHeaderBytesMax: 256 * 1024 * 1024,
  ggufValuesMax: 65_536,
  ggufTensorsMax: 65_536,
  /** Blocks that the native engine has room for. */
  ggufBlocksMax: 512,
  /** Entries of a list, such as the vocabulary. */
  ggufListMax: 4_194_304,
  /** One text, such as the chat template. */
  ggufTextBytesMax: 1_000_000,
  /** Time, steps, nesting and characters of a chat template's run. */
  templateMs: 1000,
  templateDepthMax: 1000,
  templateStepsMax: 1_000_000,
  templateCharsMax: 1_000_000,
  /** A prompt state on disk below this many tokens is not worth its file. */
  promptStateTokensMin: 256,
  /** A whole answer of a model server, or one event of its stream. */
  answerBytesMax: 16 * 1024 * 1024,
  /** Body of an error answer that is looked at. */
  errorBodyBytesMax: 64 * 1024,
  /** Text of a server's error in a message for people. */
  errorTextCharsMax: 500,
  /** Tokens of texts that an engine keeps to send the same text without asking again. */
  keptTokensMax: 1_000_000,
  /** Events that wait for a host's loop before its client stops reading. */
  clientEventsMax: 1024,
  /** Requests of a host's client without an answer. */
  clientRequestsMax: 256,
  /** Longest line that a host's client takes. */
  clientLineBytesMax: 256 * 1024 * 1024,
  /** Ends of the sidecar in a row, without any answer, after which a client gives up. */
  clientRestartsMax: 3,
  /** From a client's shutdown to the end of the process. */
  clientCloseMs: 10_000,
} as const;
