#!/usr/bin/env node
import type { Command } from './commands/command.ts'

/** Loaded only when asked for: most of them need a part of the program only. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.ts')).serve,
  'config check': async () => (await import('./commands/check-config.ts')).checkConfig,
  backup: async () => (await import('./commands/backup.ts')).backup,
  restore: async () => (await import('./commands/restore.ts')).restore,
  'ledger verify': async () => (await import('./commands/verify-ledger.ts')).verifyLedger,
  'serve-process': async () => (await import('./commands/serve-process.ts')).serveProcess,
}

process.exitCode = await main(process.argv.slice(2))

async function main(words: readonly string[]): Promise<number> {
  const name = Object.keys(COMMANDS).find((known) => startsWithWords(words, known.split(' ')))
  const load = name === undefined ? undefined : COMMANDS[name]
  if (name === undefined || load === undefined) {
    const isHelp = words.length === 0 || words[0] === 'help' || words[0] === '--help'
    ;(isHelp ? process.stdout : process.stderr).write(await usage(isHelp ? null : words.join(' ')))
    return isHelp ? 0 : 2
  }
  try {
    const command = await load()
    return await command.run(words.slice(name.split(' ').length))
  } catch (error) {
    const { describeFailure } = await import('./describe-failure.ts')
    process.stderr.write(`parkway: ${describeFailure(error)}\n`)
    return 1
  }
}

function startsWithWords(words: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((word, index) => words[index] === word)
}

async function usage(unknown: string | null): Promise<string> {
  const commands = await Promise.all(Object.values(COMMANDS).map((load) => load()))
  const lines = commands
    .filter((command) => command.summary !== null)
    .map((command) => `  parkway ${command.usage.padEnd(70)} ${command.summary}`)
  const complaint = unknown === null ? '' : `parkway: no such command: ${unknown}\n\n`
  return `${complaint}Usage:\n${lines.join('\n')}\n`
}
