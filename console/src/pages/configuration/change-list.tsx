import type { ConfigChange } from '../../api/configuration.ts'
import { Badge, type Tone } from '../../ui/text/badge.tsx'

const ACTIONS: Readonly<Record<ConfigChange['action'], { readonly word: string; readonly tone: Tone }>> = {
  create: { word: 'added', tone: 'good' },
  change: { word: 'changed', tone: 'accent' },
  delete: { word: 'removed', tone: 'bad' },
}

/** What a document would change, in the order in which it is made. */
export function ChangeList({ changes }: { readonly changes: readonly ConfigChange[] }) {
  if (changes.length === 0)
    return <p className="text-sm">Nothing differs: the gateway is already as the document says.</p>
  return (
    <ol className="flex flex-col divide-y divide-line">
      {changes.map((change, index) => (
        <li key={index} className="flex flex-col gap-1.5 py-3 first:pt-0">
          <p className="flex flex-wrap items-center gap-2 text-sm">
            <Badge tone={ACTIONS[change.action].tone}>{ACTIONS[change.action].word}</Badge>
            <span className="text-ink-soft">{change.kind}</span>
            <span className="min-w-0 font-medium break-words">{change.name}</span>
          </p>
          <Difference {...change} />
        </li>
      ))}
    </ol>
  )
}

function Difference({ action, difference }: Pick<ConfigChange, 'action' | 'difference'>) {
  const members = Object.entries(difference).filter(([, value]) => value !== null)
  if (members.length === 0) return null
  return (
    <dl className="grid grid-cols-[minmax(88px,max-content)_1fr] gap-x-4 gap-y-1 text-xs">
      {members.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-soft">{name}</dt>
          <dd className="min-w-0 font-mono break-words">{describe(value, action)}</dd>
        </div>
      ))}
    </dl>
  )
}

function describe(value: unknown, action: ConfigChange['action']): string {
  if (typeof value !== 'object' || value === null || !('from' in value) || !('to' in value))
    return write(value)
  if (action === 'create') return write(value.to)
  return action === 'delete' ? write(value.from) : `${write(value.from)} → ${write(value.to)}`
}

function write(value: unknown): string {
  return value === null || value === undefined
    ? 'none'
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)
}
