// Shows a pull: a bar on a terminal, a line every tenth elsewhere, JSON lines for hosts.
import type { PullEvent } from "../models/pull-event.ts";

export interface PullOutput {
  stdout(text: string): void;
  stderr(text: string): void;
  isTerminal: boolean;
}

/** JSON goes to stdout, all else to stderr but for the path of the finished model. A failure is printed by the caller. */
export function pullPrinter(output: PullOutput, json: boolean): { onEvent(event: PullEvent): void } {
  if (json) return { onEvent: (event) => output.stdout(`${JSON.stringify(event)}\n`) };
  const line = output.isTerminal ? barLine(output) : sparseLine(output);
  return {
    onEvent(event) {
      if (event.type === "pull_progressed") return line.progress(event);
      line.end();
      if (event.type === "pull_waiting") output.stderr(`${event.message}\n`);
      if (event.type === "pull_started") output.stderr(`${event.model} from ${event.source}${sizeOf(event)}\n`);
      if (event.type === "source_retried") output.stderr(`${event.source}: ${event.message}; try ${event.attempt + 1} in ${Math.ceil(event.delayMs / 1000)} s\n`);
      if (event.type === "source_failed") output.stderr(`${event.source}: ${event.message}; given up\n`);
      if (event.type === "pull_finished") {
        output.stderr(event.downloaded ? `installed ${event.model} (${formatBytes(event.bytes)}, hash checked) in ${duration(event.durationMs / 1000)}\n` : `${event.model} is installed already\n`);
        output.stdout(`${event.path}\n`);
      }
    },
  };
}

/** Decimal units, as disks and downloads are sold: `1.12 GB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value >= 99.95 ? value.toFixed(0) : value.toPrecision(3)} ${units[unit] ?? ""}`;
}

type Progressed = Extract<PullEvent, { type: "pull_progressed" }>;

interface ProgressLine {
  progress(event: Progressed): void;
  end(): void;
}

function barLine(output: PullOutput): ProgressLine {
  let shown = false;
  return {
    progress(event) {
      output.stderr(`\r${bar(event)}${describe(event)}\u001b[K`);
      shown = true;
    },
    end() {
      if (shown) output.stderr("\n");
      shown = false;
    },
  };
}

function sparseLine(output: PullOutput): ProgressLine {
  let next = 0;
  return {
    progress(event) {
      // Without a known size: every 100 MB.
      const step = event.totalBytes === undefined ? 100e6 : event.totalBytes / 10;
      const reached = Math.floor(event.bytes / step);
      if (reached < next) return;
      if (next > 0 || reached > 0) output.stderr(`${describe(event)}\n`);
      next = reached + 1;
    },
    end() {},
  };
}

function bar(event: Progressed): string {
  if (event.totalBytes === undefined) return "";
  const width = 24;
  const filled = Math.min(width, Math.floor((event.bytes / event.totalBytes) * width));
  return `[${"#".repeat(filled)}${"-".repeat(width - filled)}] `;
}

function describe(event: Progressed): string {
  const { bytes, totalBytes, bytesPerSecond } = event;
  const speed = bytesPerSecond > 0 ? `, ${formatBytes(bytesPerSecond)}/s` : "";
  if (totalBytes === undefined) return `${formatBytes(bytes)}${speed}`;
  const left = bytesPerSecond > 0 && bytes < totalBytes ? `, ${duration((totalBytes - bytes) / bytesPerSecond)} left` : "";
  return `${Math.floor((bytes / totalBytes) * 100)} % of ${formatBytes(totalBytes)}${speed}${left}`;
}

function sizeOf(event: Extract<PullEvent, { type: "pull_started" }>): string {
  const total = event.totalBytes === undefined ? "" : `, ${formatBytes(event.totalBytes)}`;
  return event.bytes > 0 ? `${total}, ${formatBytes(event.bytes)} are here already` : total;
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  return whole < 3600 ? `${Math.floor(whole / 60)} min ${whole % 60} s` : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
