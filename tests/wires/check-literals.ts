import { mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '../reference/run-program.ts'
import { removeDirectory } from '../support/remove-directory.ts'

/** A value that the gateway sent, and the type that an official SDK has for it. */
export interface TypedLiteral {
  /** What it is, for messages. */
  readonly label: string
  /** The name of a type in the declarations. */
  readonly type: string
  readonly value: unknown
}

const NODE_MODULES = join(import.meta.dirname, '../../node_modules')
const FILE = 'literals.ts'
const OPTIONS = [
  ['--noEmit', '--strict', '--skipLibCheck', '--exactOptionalPropertyTypes', '--noErrorTruncation'],
  ['--target', 'es2024', '--module', 'nodenext', '--types', 'node', '--ignoreConfig', '--pretty', 'false'],
].flat()

/**
 * Compiles values as object literals of their types, and returns what the compiler says about each: missing members, unknown
 * members, and null where the type does not have it.
 */
export async function checkLiterals(
  declarations: string,
  literals: readonly TypedLiteral[],
): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'parkway-literals-'))
  try {
    await symlink(NODE_MODULES, join(directory, 'node_modules'))
    await writeFile(join(directory, 'package.json'), '{"type":"module"}')
    const lines = literals.map(
      ({ type, value }, index) => `export const v${index}: ${type} = ${JSON.stringify(value)}`,
    )
    await writeFile(join(directory, FILE), [...lines, declarations].join('\n'))
    const compiler = join(NODE_MODULES, '.bin/tsc')
    const { exitCode, output } = await runProgram(compiler, [...OPTIONS, FILE], { cwd: directory })
    const problems = output.split('\n').filter((line) => line.trim() !== '')
    if (exitCode !== 0 && problems.length === 0) return ['the compiler failed and said nothing']
    return problems.map((problem) => withLabel(problem, literals))
  } finally {
    await removeDirectory(directory)
  }
}

function withLabel(problem: string, literals: readonly TypedLiteral[]): string {
  const line = /^literals\.ts\((\d+),/.exec(problem)?.[1]
  const literal = line === undefined ? undefined : literals[Number(line) - 1]
  if (literal === undefined) return problem
  return `${literal.label}: ${problem.replace(/^[^:]*: /, '').slice(0, 400)} ${JSON.stringify(literal.value).slice(0, 300)}`
}
