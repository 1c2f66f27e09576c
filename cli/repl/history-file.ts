import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

const ENTRIES_MAX = 1_000
const ENTRY_LENGTH_MAX = 4_000

/** Returns the path of the prompts that were typed, in the user's state directory. */
export function historyPath(environment: NodeJS.ProcessEnv): string {
  const { XDG_STATE_HOME: xdg, LOCALAPPDATA: localAppData } = environment
  const base = xdg || (process.platform === 'win32' && localAppData) || join(homedir(), '.local', 'state')
  return join(base, 'parkway', 'chat-history')
}

/** Returns the prompts, oldest first. A file that cannot be read is no history. */
export function readHistory(path: string): string[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return []
  }
  return text
    .split('\n')
    .flatMap((line) => parseEntry(line))
    .slice(-ENTRIES_MAX)
}

/** Adds a prompt, unless it is the last one. Reads the file again first, because another conversation may have added to it. */
export function addToHistory(path: string, prompt: string): void {
  if (prompt.length > ENTRY_LENGTH_MAX) return
  const before = readHistory(path)
  if (before.at(-1) === prompt) return
  const entries = [...before, prompt].slice(-ENTRIES_MAX)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 })
  chmodSync(draft, 0o600)
  renameSync(draft, path)
}

function parseEntry(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line)
    return typeof entry === 'string' && entry.length <= ENTRY_LENGTH_MAX ? [entry] : []
  } catch {
    return []
  }
}
