import { msOf } from '../../../api/organization-pages.ts'
import type { ScimState, ScimToken } from '../../../api/scim.ts'
import { Section } from '../../../ui/layout/section.tsx'
import { Badge } from '../../../ui/text/badge.tsx'
import { Time } from '../../../ui/text/time.tsx'

interface ScimFailuresProps {
  readonly failures: ScimState['failures']
  readonly tokens: readonly ScimToken[]
}

/** The last writes of a directory that were refused, with the reason that it was told. */
export function ScimFailures({ failures, tokens }: ScimFailuresProps) {
  if (failures.length === 0) return null
  const nameOf = (id: string): string => tokens.find((token) => token.id === id)?.name ?? 'a deleted token'
  return (
    <Section title="Problems">
      <p className="pb-3 text-sm text-ink-soft">
        Writes that were refused, the newest first. A directory repeats them, so an old one may have succeeded
        since.
      </p>
      <ul className="flex flex-col divide-y divide-line">
        {failures.map((failure) => (
          <li key={failure.id} className="flex flex-col gap-1 py-2.5 last:pb-0">
            <span className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-soft">
              <Badge tone={failure.status >= 500 ? 'bad' : 'warn'}>{failure.status}</Badge>
              <Time at={msOf(failure.created_at)} form="short" />
              <span>{nameOf(failure.token_id)}</span>
            </span>
            <span className="text-sm break-words">{failure.detail}</span>
            <span className="font-mono text-xs break-all text-ink-faint">
              {failure.method} {failure.path}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
