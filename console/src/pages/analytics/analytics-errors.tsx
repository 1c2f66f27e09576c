import { Link } from '@tanstack/react-router'
import type { Analytics, AnalyticsSelection } from '../../api/analytics.ts'
import { formatCount } from '../../ui/format/format-count.ts'
import { Section } from '../../ui/layout/section.tsx'
import { requestsWithin } from './analytics-search.ts'

interface ErrorsProps {
  readonly kinds: Analytics['error_kinds']
  readonly selection: AnalyticsSelection
}

/** The most frequent kinds of errors. Each leads to its requests. */
export function AnalyticsErrors({ kinds, selection }: ErrorsProps) {
  if (kinds.length === 0) return null
  return (
    <Section title="Errors by kind">
      <ul className="flex flex-col gap-1 text-sm">
        {kinds.map((kind) => (
          <li key={`${kind.outcome} ${kind.http_status} ${kind.error_code}`} className="flex gap-3">
            <span className="tabular w-20 text-right">{formatCount(kind.requests)}</span>
            <Link
              to="/requests"
              search={{
                ...requestsWithin(selection),
                http_status: kind.http_status,
                ...(kind.error_code !== null && { error_code: kind.error_code }),
              }}
              className="font-medium hover:text-accent hover:underline"
            >
              {kind.error_code ?? 'no code'}
            </Link>
            <span className="text-ink-soft">
              {kind.http_status}, {kind.outcome}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
