import { readEvents } from '../../api/read-events.ts'
import { readPages } from '../../api/read-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { toDeploymentId } from '../../deployments/deployment-id.ts'
import { followEvents, followStart } from '../../deployments/follow-deployment.ts'
import { describeEvent } from '../../deployments/print-events.ts'
import { EXIT } from '../../exit-codes.ts'
import { requireConsent } from '../../input/confirm.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { interruptible } from '../../interruption.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printable } from '../../output/printable.ts'

const ARGUMENT = ['<deployment>', 'its id, or the id of its model'] as const

export const start = clientCommand<{ readonly follow: boolean }>({
  name: 'start',
  summary: 'Start a deployment, and wait until it answers.',
  example: 'parkway deploy start 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument(...ARGUMENT).option('--no-follow', 'do not wait'),
  async act({ output, isJson, connect, printJson }, { follow }, word = '') {
    const gateway = connect()
    const path = { id: toDeploymentId(word) }
    const ordered = await gateway.call((routes) =>
      routes.POST('/v1/deployments/{id}/start', { params: { path } }),
    )
    const deployment = follow
      ? await interruptible((signal) => followStart(gateway, path.id, { signal, onEvent: () => {} }))
      : ordered
    if (isJson) return printJson(deployment)
    output.line(
      `${printable(deployment.id)} is ${deployment.status}, for ${formatUsd(deployment.hourly_cost)} an hour.`,
    )
  },
})

export const stop = clientCommand({
  name: 'stop',
  summary: 'Stop a deployment. It costs nothing from then on.',
  example: 'parkway deploy stop 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument(...ARGUMENT),
  async act({ output, isJson, connect, printJson }, _, word = '') {
    const path = { id: toDeploymentId(word) }
    const deployment = await connect().call((routes) =>
      routes.POST('/v1/deployments/{id}/stop', { params: { path } }),
    )
    if (isJson) return printJson(deployment)
    output.line(
      `${printable(deployment.id)} is ${deployment.status}. It cost ${formatUsd(deployment.budget_spent_usd)}.`,
    )
  },
})

export const remove = clientCommand<{ readonly yes?: boolean }>({
  name: 'rm',
  summary: 'Stop and delete a deployment.',
  example: 'parkway deploy rm --yes 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument(...ARGUMENT).option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { yes }, word = '') {
    const gateway = connect()
    const params = { path: { id: toDeploymentId(word) } }
    const { huggingface_id: model, name } = await gateway.call((routes) =>
      routes.GET('/v1/deployments/{id}', { params }),
    )
    await requireConsent(`Delete ${printable(name)} (${printable(model)})?`, yes === true)
    const deleted = await gateway.call((routes) => routes.DELETE('/v1/deployments/{id}', { params }))
    if (isJson) return printJson(deleted)
    output.line(`Deleted ${printable(deleted.id)}.`)
  },
})

interface EventsOptions {
  readonly follow?: boolean
  readonly limit: string
}

export const events = clientCommand<EventsOptions>({
  name: 'events',
  summary: 'Show what happened to a deployment, oldest first.',
  example: 'parkway deploy events 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) =>
    command
      .argument(...ARGUMENT)
      .option('-f, --follow', 'go on until the deployment is deleted; Ctrl-C ends')
      .option('--limit <number>', 'how many', '1000'),
  async act({ output, isJson, connect, printJsonLines, printJsonLine }, { follow, limit }, word = '') {
    const gateway = connect()
    const id = toDeploymentId(word)
    const print = (event: Parameters<typeof describeEvent>[0]): void =>
      isJson ? printJsonLine(event) : output.line(describeEvent(event))
    if (follow === true) {
      const isEnough = ({ status }: { status: string }): boolean => status === 'deleted'
      await interruptible((signal) => followEvents(gateway, id, { signal, onEvent: print, isEnough }))
      return
    }
    const found = await readPages(parseWhole('--limit', limit), (query) =>
      gateway.call((routes) =>
        routes.GET('/v1/deployments/{id}/events', { params: { path: { id }, query } }),
      ),
    )
    if (isJson) return printJsonLines(found)
    for (const event of found) print(event)
  },
})

interface LogsOptions {
  readonly follow?: boolean
  readonly lines: string
}

export const logs = clientCommand<LogsOptions>({
  name: 'logs',
  summary: 'Show the log of the engine of a deployment.',
  example: 'parkway deploy logs --lines 50 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) =>
    command
      .argument(...ARGUMENT)
      .option('-f, --follow', 'go on until the deployment ends; Ctrl-C ends')
      .option('--lines <number>', 'how many of the last lines', '200'),
  async act({ output, isJson, connect, printJson, printJsonLine }, { follow, lines: count }, word = '') {
    const gateway = connect()
    const path = { id: toDeploymentId(word) }
    const lines = parseWhole('--lines', count, { max: 1_000 })
    // A pipe gets the bytes of the engine; a screen must not obey them.
    const print = (line: string): void => output.copy(`${line}\n`)
    if (follow !== true) {
      const query = { lines }
      const log = await gateway.call((routes) =>
        routes.GET('/v1/deployments/{id}/logs', { params: { path, query } }),
      )
      if (isJson) return printJson(log)
      for (const line of (log as { lines: string[] }).lines) print(line)
      return
    }
    const address = `/v1/deployments/${encodeURIComponent(path.id)}/logs?follow=true&lines=${lines}`
    const response = await gateway.send(address, { method: 'GET' })
    for await (const data of readEvents(response.body ?? new ReadableStream())) {
      if (data === '[DONE]') return
      const event = JSON.parse(data) as LogEvent
      if (event.error !== undefined) throw logCutOff(event.error.message ?? 'No reason given.')
      if (isJson) printJsonLine(event)
      else if (event.type === 'line') print(event.line ?? '')
      else output.note(`The log ended: ${printable(event.reason ?? 'unknown reason')}.`)
    }
    throw logCutOff('The connection broke.')
  },
})

interface LogEvent {
  readonly type?: string
  readonly line?: string
  readonly reason?: string
  readonly error?: { readonly message?: string }
}

function logCutOff(reason: string): CommandFailure {
  return new CommandFailure(
    EXIT.failed,
    `The log goes on, but was cut off: ${reason}`,
    'Follow it again with the same command.',
  )
}
