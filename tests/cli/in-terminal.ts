import { resolve } from 'node:path'
import { spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import { homeEnvironment, type Home } from './run-parkway.ts'

const PROGRAM = resolve(import.meta.dirname, '../../cli/main.ts')
/** A loaded machine may take many times longer than an idle one to start the program. */
const WAIT_MS_MAX = 60_000

/** Keys as a terminal sends them. */
export const KEY = {
  enter: '\r',
  up: '\u001B[A',
  down: '\u001B[B',
  interrupt: '\u0003',
  end: '\u0004',
} as const

/** The program in a pseudo-terminal, and the screen that a person sees. */
export interface TerminalSession {
  /** Sends keystrokes. */
  type(keys: string): void
  /** Waits until the screen, with what scrolled off it, contains the text. Returns all lines. */
  waitFor(text: string | RegExp): Promise<string>
  /** The lines so far, without trailing blanks. */
  screen(): string
  /** Everything the program wrote, with escape sequences. */
  raw(): string
  resize(columns: number, rows: number): void
  /** Waits for the end and returns the exit code. */
  ended(): Promise<number>
  kill(): void
}

interface TerminalOptions {
  readonly environment?: Record<string, string>
  readonly columns?: number
  readonly rows?: number
  readonly directory?: string
  /** Another program than Parkway, with its arguments. */
  readonly program?: readonly [string, ...string[]]
}

/** Starts the program as a person does: in a terminal of 80 columns. */
export function startInTerminal(
  home: Home,
  words: readonly string[],
  options: TerminalOptions = {},
): TerminalSession {
  const { columns: cols = 80, rows = 24, environment = {}, directory = home.directory } = options
  const [file, ...args] = options.program ?? [process.execPath, PROGRAM, ...words]
  const screen = new xterm.Terminal({ cols, rows, scrollback: 10_000, allowProposedApi: true })
  const env = { ...homeEnvironment(home), TERM: 'xterm-256color', LANG: 'C.UTF-8', ...environment }
  const child = spawn(file, args, { name: env.TERM, cols, rows, cwd: directory, env })
  let raw = ''
  const listeners = new Set<() => void>()
  child.onData((text) => {
    raw += text
    screen.write(text, () => {
      for (const listener of listeners) listener()
    })
  })
  // Programs ask the terminal for its state, such as the position of the cursor.
  screen.onData((answer) => child.write(answer))
  const ended = new Promise<number>((done) => {
    child.onExit(({ exitCode, signal }) => done(signal ? 128 + signal : exitCode))
  })
  return {
    type: (keys) => child.write(keys),
    waitFor: (text) => waitUntilShown(text, () => readScreen(screen), listeners),
    screen: () => readScreen(screen),
    raw: () => raw,
    resize(columns, lines) {
      child.resize(columns, lines)
      screen.resize(columns, lines)
    },
    async ended() {
      const code = await ended
      // The screen takes what was written in its own time.
      await new Promise<void>((done) => screen.write('', done))
      return code
    },
    kill: () => child.kill('SIGKILL'),
  }
}

function readScreen({ buffer: { active } }: xterm.Terminal): string {
  const lines = Array.from(
    { length: active.length },
    (_, index) => active.getLine(index)?.translateToString(true) ?? '',
  )
  return lines.join('\n').trimEnd()
}

function waitUntilShown(
  text: string | RegExp,
  read: () => string,
  listeners: Set<() => void>,
): Promise<string> {
  const isShown = (shown: string): boolean =>
    typeof text === 'string' ? shown.includes(text) : text.test(shown)
  return new Promise((done, fail) => {
    const end = (): void => {
      clearTimeout(timer)
      listeners.delete(look)
    }
    const look = (): void => {
      const shown = read()
      if (!isShown(shown)) return
      end()
      done(shown)
    }
    const timer = setTimeout(() => {
      end()
      fail(new Error(`The terminal does not show ${String(text)}. It shows:\n${read()}`))
    }, WAIT_MS_MAX)
    listeners.add(look)
    look()
  })
}
