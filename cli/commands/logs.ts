import { clientCommand } from '../client-command.ts'
import { commandGroup } from '../command-group.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { parseWhole } from '../input/parse-number.ts'
import { interruptible } from '../interruption.ts'
import { describeEntry, logColumns } from '../logs/describe-entry.ts'
import { followLog } from '../logs/follow-log.ts'
import { selectRequests, withLogOptions, type LogOptions } from '../logs/log-options.ts'
import { printBodies, printRequest } from '../logs/print-request.ts'
import { readLogPages, type LogEntry } from '../logs/read-log.ts'
import { printTable } from '../output/tables/print-table.ts'

interface ListOptions extends LogOptions {
  readonly limit: string
  readonly follow?: boolean
}

/** A page of a rare filter may be empty. */
const PAGES_MAX = 100

const list = clientCommand<ListOptions>({
  name: 'list',
  summary: 'List requests, newest first, or follow them.',
  example: 'parkway logs list --model gpt-5.4 --min-latency 5000 --since 6h',
  define: (command) =>
    withLogOptions(command)
      .option('--limit <number>', 'how many', '20')
      .option('-f, --follow', 'go on with each request that ends, until Ctrl-C'),
  async act({ output, isJson, connect, printJsonLines, printJsonLine }, { limit, follow, ...options }) {
    const gateway = connect()
    const selection = selectRequests(options)
    const count = parseWhole('--limit', limit)
    if (follow === true) {
      if (options.until !== undefined)
        throw new CommandFailure(EXIT.usage, '--follow has no end: omit --until.')
      return interruptible((signal) =>
        followLog(gateway, selection, {
          signal,
          before: count,
          onEntry: (entry) =>
            isJson ? printJsonLine(entry) : output.line(describeEntry(entry, selection.isOfAll)),
          onNote: (sentence) => output.note(sentence),
        }),
      )
    }
    const entries: LogEntry[] = []
    let isComplete = false
    for await (const page of readLogPages(gateway, selection, { pagesMax: PAGES_MAX, sizeMax: count })) {
      entries.push(...page.data)
      isComplete = page.next_cursor === null
      if (entries.length >= count) break
    }
    const shown = entries.slice(0, count)
    if (isJson) printJsonLines(shown)
    else if (shown.length > 0) printTable(output, logColumns(selection.isOfAll), shown)
    else output.note('There are no such requests.')
    if (!isComplete && shown.length < count)
      output.note('Older requests were not read: narrow the time with --until.')
  },
})

interface ShowOptions {
  readonly body?: boolean
}

const show = clientCommand<ShowOptions>({
  name: 'show',
  summary: 'Show one request in full: timings, attempts, tokens, cost and error.',
  example: 'parkway logs show req_01a1e9000fc97effb14cdd4471e0969d',
  define: (command) =>
    command
      .argument('<request>', 'its id: req_…')
      .option('--body', 'the bodies of the request and its answer, if they are stored'),
  async act({ output, isJson, connect, printJson }, { body }, id = '') {
    const gateway = connect()
    const params = { path: { request_id: id } }
    if (body === true) {
      const bodies = await gateway.call((routes) => routes.GET('/v1/requests/{request_id}/body', { params }))
      return isJson ? printJson(bodies) : printBodies(output, bodies)
    }
    const request = await gateway.call((routes) => routes.GET('/v1/requests/{request_id}', { params }))
    if (isJson) return printJson(request)
    printRequest(output, request)
  },
})

export const logs = commandGroup({
  name: 'logs',
  summary: 'List requests, follow them, and show one in full.',
  example: 'parkway logs --outcome failed --since 1h',
  byDefault: list,
  others: [show],
})
