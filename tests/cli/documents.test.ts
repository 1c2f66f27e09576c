import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { documentCommands } from '../../cli/document-commands.ts'

test('docs/cli.md is the help of the commands', async () => {
  const path = resolve(import.meta.dirname, '../../docs/cli.md')
  expect(await readFile(path, 'utf8')).toBe(await documentCommands())
})
