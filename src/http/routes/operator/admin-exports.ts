import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { SinkState } from '../../../modules/exports/exports.ts'
import { orNull } from '../../../wires/nullable.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const Sink = Type.Object({
  object: objectName('export'),
  name: Type.String({ description: 'Its name in the settings.' }),
  kind: orNull(
    Type.String(),
    '`s3`, `otlp`, `kafka` or `webhook`. Null if the process that answers does not have it in its settings.',
  ),
  status: Type.Enum(['running', 'failing', 'waiting', 'removed'], {
    description:
      '`failing`: the last attempt failed, and it is tried again. `waiting`: no process sends to it now. `removed`: it is not in the settings.',
  }),
  lag_requests: Type.Integer({
    description: 'Requests that it has not confirmed. Those of other kinds than it gets are counted too.',
  }),
  lag_seconds: Type.Number({ description: 'How long the first of them has waited.' }),
  sent: Type.Integer({ description: 'Requests that it has confirmed.' }),
  refused: Type.Integer({ description: 'Requests that it refused for ever.' }),
  skipped: Type.Integer({
    description:
      'Requests that it did not get, because they waited too long or were not in the log any more.',
  }),
  failures: Type.Integer({ description: 'Attempts in a row that failed.' }),
  last_error: orNull(Type.String(), 'Why the last attempt failed that did. Null if none has failed.'),
  failed_at: orNull(Type.String({ format: 'date-time' }), 'When the last attempt failed that did.'),
  confirmed_at: orNull(Type.String({ format: 'date-time' }), 'When it last confirmed requests.'),
  created_at: orNull(
    Type.String({ format: 'date-time' }),
    'Since when requests are kept for it. Null while it waits for processes of an earlier release to end.',
  ),
})

const ExportsAnswer = Type.Object({
  object: objectName('list'),
  data: Type.Array(Sink, { description: 'All sinks, by name.' }),
})

interface Parts {
  readonly listSinks: () => Promise<readonly SinkState[]>
  /** The kinds of the sinks in the settings, by name. */
  readonly kinds: ReadonlyMap<string, string>
}

/** How far the exports of requests are, for operators. */
export const adminExportRoutes = ({ listSinks, kinds }: Parts): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/v1/admin/exports',
    tag: 'Operator',
    summary: 'List where requests are exported to',
    access: ofGateway('gateway.read'),
    responses: { 200: { description: 'All sinks, by name.', schema: ExportsAnswer } },
    handle: async () => {
      const states = new Map((await listSinks()).map((state) => [state.name, state]))
      const names = [...new Set([...states.keys(), ...kinds.keys()])].toSorted()
      return {
        object: 'list' as const,
        data: names.map((name) => sinkToWire(name, kinds.get(name) ?? null, states.get(name) ?? null)),
      }
    },
  }),
]

function sinkToWire(name: string, kind: string | null, state: SinkState | null): Static<typeof Sink> {
  return {
    object: 'export',
    name,
    kind,
    status: statusOf(kind, state),
    lag_requests: state?.waiting ?? 0,
    lag_seconds: Math.round(state?.waitedMs ?? 0) / 1e3,
    sent: state?.sent ?? 0,
    refused: state?.refused ?? 0,
    skipped: state?.skipped ?? 0,
    failures: state?.failures ?? 0,
    last_error: state?.lastError ?? null,
    failed_at: timeOrNull(state?.failedAtMs),
    confirmed_at: timeOrNull(state?.confirmedAtMs),
    created_at: timeOrNull(state?.createdAtMs),
  }
}

function statusOf(kind: string | null, state: SinkState | null): Static<typeof Sink>['status'] {
  if (kind === null) return 'removed'
  if (state === null || !state.isWorkedOn) return 'waiting'
  return state.failures > 0 ? 'failing' : 'running'
}

function timeOrNull(epochMs: number | null | undefined): string | null {
  return epochMs === null || epochMs === undefined ? null : toTimestamp(epochMs)
}
