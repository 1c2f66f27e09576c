import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { usedDeprecationsQuery } from '../../api/deprecations.ts'
import { useLiveOverview } from '../../api/live-overview.ts'
import type { LiveOverview } from '../../api/operator.ts'
import { DeprecationNotice } from '../../deprecations/deprecation-notice.tsx'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { Sparkline } from '../../ui/data/sparkline.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import {
  formatBytes,
  formatCount,
  formatCountOf,
  formatShare,
  formatShortCount,
} from '../../ui/format/format-count.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { buttonClass } from '../../ui/forms/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { Badge, type Tone } from '../../ui/text/badge.tsx'
import { Figure } from '../../ui/text/figure.tsx'

/** What the gateway does now, over all processes. */
export function OverviewPage() {
  const { events, failure } = useLiveOverview()
  const now = events.at(-1)
  return (
    <Page>
      <PageHeader
        title="Overview"
        description={
          now === undefined
            ? 'Live figures of all processes.'
            : `Live figures of ${formatCountOf(now.processes, 'process', 'processes')}, every two seconds.`
        }
      />
      {failure && <ErrorPanel title="The figures are not live" error={failure} />}
      <EndingModels />
      {now && <Attention items={now.attention} />}
      <Rates events={events} />
      <Parts now={now} />
      {now && now.providers.length > 0 && (
        <DataTable
          label="Providers of the last five minutes"
          tools={{ id: 'providers' }}
          columns={PROVIDER_COLUMNS}
          rows={now.providers}
          rowId={({ name }) => name}
          heightClass="max-h-96"
        />
      )}
    </Page>
  )
}

/** Models that end and that somebody still uses. */
function EndingModels() {
  const { data } = useQuery(usedDeprecationsQuery)
  return (
    <DeprecationNotice
      models={data?.data.map(({ id }) => id) ?? []}
      who="Accounts"
      action={
        <Link to="/deprecations" className={buttonClass()}>
          Who uses them
        </Link>
      }
    />
  )
}

const TONES: Readonly<Record<LiveOverview['attention'][number]['level'], Tone>> = {
  critical: 'bad',
  warning: 'warn',
  info: 'accent',
}

function Attention({ items }: { readonly items: LiveOverview['attention'] }) {
  return (
    <Section title="Needs attention">
      {items.length === 0 ? (
        <p className="text-sm text-ink-soft">Nothing. Everything that is watched works.</p>
      ) : (
        <ul className="flex flex-col gap-2 text-sm">
          {items.map((item) => (
            <li key={`${item.code} ${item.subject} ${item.message}`} className="flex items-start gap-3">
              <Badge tone={TONES[item.level]}>{item.level}</Badge>
              <div className="flex min-w-0 flex-col gap-1 break-words">
                <span>{item.message}</span>
                {item.explanation && <span className="text-ink-soft">{item.explanation}</span>}
                <FailuresOf item={item} />
              </div>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

/** Whose calls of a provider failed, each with a link to the requests. */
function FailuresOf({ item: { failures } }: { readonly item: LiveOverview['attention'][number] }) {
  if (failures.length === 0) return null
  return (
    <ul className="flex flex-col gap-0.5">
      {failures.map((one) => (
        <li key={`${one.account_id} ${one.model} ${one.failure} ${one.http_status} ${one.error_code}`}>
          <Link
            to="/requests"
            search={{
              attempted_provider: one.provider,
              account_id: one.account_id,
              ...(one.model && { model: one.model }),
            }}
            className="text-accent hover:underline"
          >
            {one.account_name ?? one.account_id}, {one.model ?? 'unknown model'}
          </Link>{' '}
          <span className="text-ink-soft">
            {formatCountOf(one.calls, 'call')}, {one.failure}
            {one.http_status !== null && ` ${one.http_status}`}
            {one.error_code && ` ${one.error_code}`}
          </span>
        </li>
      ))}
    </ul>
  )
}

function Rates({ events }: { readonly events: readonly LiveOverview[] }) {
  const now = events.at(-1)
  const course = (read: (event: LiveOverview) => number): number[] => events.map(read)
  return (
    <div className="grid grid-cols-2 gap-4 lg:grid-cols-4">
      <Section>
        <Figure
          label="Requests"
          value={now && formatShortCount(now.requests.per_second)}
          unit="/s"
          note={now && `${formatCount(now.requests.running)} running`}
        >
          <Sparkline label="Requests of the last minutes" values={course((one) => one.requests.per_second)} />
        </Figure>
      </Section>
      <Section>
        <Figure
          label="Errors"
          value={now && formatShortCount(now.requests.errors_per_second)}
          unit="/s"
          note={now && `${formatShortCount(now.requests.refused_per_second)}/s refused`}
        >
          <Sparkline
            label="Errors of the last minutes"
            values={course((one) => one.requests.errors_per_second)}
          />
        </Figure>
      </Section>
      <Section>
        <Figure
          label="Latency, p50"
          value={now && durationOf(now.requests.latency_ms.p50)}
          note={now && `p95 ${durationOf(now.requests.latency_ms.p95)}`}
        >
          <Sparkline
            label="Latency of the last minutes"
            values={course((one) => one.requests.latency_ms.p50 ?? 0)}
          />
        </Figure>
      </Section>
      <Section>
        <Figure
          label="Spend"
          value={now && formatUsd(now.spend_usd_per_second * 3600)}
          unit="an hour"
          note={
            now &&
            `${formatShortCount(now.tokens_per_second.prompt)} tokens/s in, ${formatShortCount(now.tokens_per_second.completion)} out`
          }
        >
          <Sparkline label="Spend of the last minutes" values={course((one) => one.spend_usd_per_second)} />
        </Figure>
      </Section>
    </div>
  )
}

function Parts({ now }: { readonly now: LiveOverview | undefined }) {
  return (
    <Section>
      <div className="grid grid-cols-2 gap-6 lg:grid-cols-5">
        <Figure
          label="Tasks"
          value={now && formatCount(now.tasks.processing)}
          unit="running"
          note={now && `${formatCount(now.tasks.pending)} wait`}
        />
        <Figure
          label="Slots of local models"
          value={now && `${now.queue.in_use} of ${now.queue.slots}`}
          note={now && `${formatCount(now.queue.waiting)} requests wait`}
        />
        <Figure
          label="Workers"
          value={now && formatCount(now.workers.running)}
          unit="running"
          note={now && `${formatCountOf(now.workers.slots, 'task')} at once, ${now.workers.stopped} stopped`}
        />
        <Figure
          label="Database"
          value={now && durationOf(now.database.latency_ms)}
          note={
            now &&
            `${now.database.pool.in_use} of ${now.database.pool.size} connections, ${now.database.pool.waiting} wait`
          }
        />
        <Figure
          label="Free disk"
          value={now && (now.disk === null ? 'unknown' : formatBytes(now.disk.free_bytes))}
          note={now?.disk ? `of ${formatBytes(now.disk.total_bytes)}` : undefined}
        />
      </div>
    </Section>
  )
}

function durationOf(ms: number | null): string {
  return ms === null ? 'none' : formatDuration(ms)
}

const PROVIDER_COLUMNS: readonly Column<LiveOverview['providers'][number]>[] = [
  {
    id: 'name',
    header: 'Provider',
    value: ({ name }) => name,
    render: ({ name }) => (
      <Link
        to="/providers"
        search={{ provider: name }}
        className="font-medium hover:text-accent hover:underline"
      >
        {name}
      </Link>
    ),
  },
  {
    id: 'requests',
    header: 'Requests, 5 min',
    value: ({ requests }) => requests,
    width: '136px',
    align: 'right',
    render: ({ requests }) => formatCount(requests),
  },
  {
    id: 'errors',
    header: 'Errors',
    value: ({ error_share: share }) => share,
    width: '96px',
    align: 'right',
    render: ({ error_share: share }) => (share === null ? 'none' : formatShare(share)),
  },
  {
    id: 'latency',
    header: 'Latency, p95',
    value: ({ latency_ms: latency }) => latency.p95,
    width: '120px',
    align: 'right',
    isMinor: true,
    render: ({ latency_ms: latency }) => durationOf(latency.p95),
  },
  {
    id: 'breakers',
    header: 'Breakers',
    value: ({ open_breakers: open }) => open,
    width: '120px',
    isMinor: true,
    render: ({ open_breakers: open }) => (
      <Badge tone={open === 0 ? 'good' : 'bad'}>{open === 0 ? 'closed' : `${open} open`}</Badge>
    ),
  },
]
