#!/usr/bin/env node
import { backup } from './commands/backup.ts'
import { checkConfig } from './commands/check-config.ts'
import type { Command } from './commands/command.ts'
import { restore } from './commands/restore.ts'
import { serve } from './commands/serve.ts'
import { serveProcess } from './commands/serve-process.ts'
import { describeFailure } from './describe-failure.ts'

const COMMANDS: Readonly<Record<string, Command>> = {
  serve,
  'config check': checkConfig,
  backup,
  restore,
  'serve-process': serveProcess,
}

process.exitCode = await main(process.argv.slice(2))

async function main(words: readonly string[]): Promise<number> {
  const name = Object.keys(COMMANDS).find((known) => startsWithWords(words, known.split(' ')))
  const command = name === undefined ? undefined : COMMANDS[name]
  if (name === undefined || command === undefined) {
    const isHelp = words.length === 0 || words[0] === 'help' || words[0] === '--help'
    ;(isHelp ? process.stdout : process.stderr).write(usage(isHelp ? null : words.join(' ')))
    return isHelp ? 0 : 2
  }
  try {
    return await command.run(words.slice(name.split(' ').length))
  } catch (error) {
    process.stderr.write(`parkway: ${describeFailure(error)}\n`)
    return 1
  }
}

function startsWithWords(words: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((word, index) => words[index] === word)
}

function usage(unknown: string | null): string {
  const lines = Object.entries(COMMANDS)
    .filter(([, command]) => command.summary !== null)
    .map(([, command]) => `  parkway ${command.usage.padEnd(44)} ${command.summary}`)
  const complaint = unknown === null ? '' : `parkway: no such command: ${unknown}\n\n`
  return `${complaint}Usage:\n${lines.join('\n')}\n`
}
