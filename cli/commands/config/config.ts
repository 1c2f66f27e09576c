import { clientCommand } from '../../client-command.ts'
import { commandGroup } from '../../command-group.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { askBeforeReplacing } from '../../files/ask-before-replacing.ts'
import { saveResponseBody } from '../../files/save-response-body.ts'
import { requireConsent } from '../../input/confirm.ts'
import type { Schemas } from '../../api/gateway-client.ts'
import type { Output } from '../../output/terminal.ts'
import { listDifferences } from './list-differences.ts'
import { readDocument } from './read-document.ts'

interface ExportOptions {
  readonly output?: string
  readonly force?: boolean
}

const exportConfig = clientCommand<ExportOptions>({
  name: 'export',
  summary: 'Write the providers, models and prices that were added over the API, without secrets, as YAML.',
  example: 'parkway config export -o parkway.yaml',
  define: (command) =>
    command
      .option('-o, --output <path>', 'the file; without it stdout')
      .option('--force', 'replace a file that exists'),
  async act({ output, connect }, { output: path, force }) {
    if (path !== undefined) await askBeforeReplacing(path, { isForced: force === true })
    const response = await connect().send('/v1/admin/config/export', { method: 'GET' })
    if (path === undefined) return output.copy(await response.text())
    await saveResponseBody(response, path)
    output.line(path)
  },
})

const diff = clientCommand({
  name: 'diff',
  summary: 'Show what a document would change. Ends with 1 if there is a difference.',
  example: 'parkway config diff wanted.yaml',
  define: (command) => command.argument('<file>', 'a document of "parkway config export"'),
  async act({ output, isJson, connect, printJson }, _options, path = '') {
    const document = await readDocument(path)
    const compared = await connect().call((routes) =>
      routes.POST('/v1/admin/config/apply', { body: { document, dry_run: true } }),
    )
    if (isJson) printJson(compared)
    else printChanges(output, compared.changes)
    if (compared.changes.length > 0)
      throw new CommandFailure(EXIT.failed, 'The gateway differs from the document.')
  },
})

interface ApplyOptions {
  readonly yes?: boolean
  readonly check?: boolean
  readonly reason?: string
}

const apply = clientCommand<ApplyOptions>({
  name: 'apply',
  summary: 'Apply a document to a gateway: shows the differences, asks, and changes all of it or nothing.',
  example: 'parkway config apply --yes wanted.yaml',
  define: (command) =>
    command
      .argument('<file>', 'a document of "parkway config export"')
      .option('--check', 'change nothing, and end with 1 if there is a difference')
      .option('--reason <text>', 'why, for the audit log')
      .option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { yes = false, check = false, reason }, path = '') {
    const document = await readDocument(path)
    const client = connect()
    const compared = await client.call((routes) =>
      routes.POST('/v1/admin/config/apply', { body: { document, dry_run: true } }),
    )
    const { changes, version } = compared
    if (changes.length === 0 || check) {
      if (isJson) printJson(compared)
      else printChanges(output, changes)
      if (changes.length > 0) throw new CommandFailure(EXIT.failed, 'The gateway differs from the document.')
      return
    }
    if (!isJson) printChanges(output, changes)
    await requireConsent(
      `Make ${changes.length === 1 ? 'this change' : `these ${changes.length} changes`}?`,
      yes,
    )
    const body = { document, version, ...(reason === undefined ? {} : { reason }) }
    const applied = await client.call((routes) => routes.POST('/v1/admin/config/apply', { body }))
    if (isJson) return printJson(applied)
    output.line('Done. Every process of the gateway uses them.')
  },
})

function printChanges(output: Output, changes: Schemas['ConfigApplied']['changes']): void {
  if (changes.length === 0) output.line('Nothing differs.')
  for (const line of listDifferences(changes)) output.line(line)
}

export const config = commandGroup({
  name: 'config',
  summary: 'Export what operators added over the API, and apply it to a gateway.',
  example: 'parkway config export',
  others: [exportConfig, diff, apply],
})
