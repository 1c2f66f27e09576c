import { execFile } from 'node:child_process'

export interface ProgramResult {
  /** Null if the program could not be started. */
  readonly exitCode: number | null
  readonly output: string
}

interface ProgramOptions {
  readonly cwd: string
  readonly environment?: Readonly<Record<string, string>>
}

const RUN_MS_MAX = 240_000
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024

/** Runs a program until it exits and returns its output, including stderr. */
export function runProgram(
  program: string,
  parameters: readonly string[],
  { cwd, environment = {} }: ProgramOptions,
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const env = { ...process.env, ...environment }
    const limits = { timeout: RUN_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX }
    execFile(program, parameters, { cwd, env, ...limits }, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code
      resolve({ exitCode: typeof code === 'number' ? code : null, output: stdout + stderr })
    })
  })
}
