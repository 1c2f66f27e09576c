import { useQuery } from '@tanstack/react-query'
import { doctorQuery, type Finding } from '../../api/doctor.ts'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatCountOf } from '../../ui/format/format-count.ts'
import { Button } from '../../ui/forms/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Badge, type Tone } from '../../ui/text/badge.tsx'

/** What is wrong with the gateway, and how to mend it. */
export function DoctorPage() {
  const { data, error, isPending, isFetching, refetch } = useQuery(doctorQuery)
  const count = data?.data.length ?? 0
  return (
    <Page>
      <PageHeader
        title="Doctor"
        description={
          data === undefined
            ? 'Settings, database, clocks, providers, certificates and the machine.'
            : `${formatCountOf(count, 'finding')} in settings, database, clocks, providers, certificates and the machine.`
        }
        actions={
          <Button icon="retry" disabled={isFetching} onClick={() => void refetch()}>
            Look again
          </Button>
        }
      />
      {isPending && <SkeletonRows />}
      {error && (
        <ErrorPanel title="The gateway could not be examined" error={error} onRetry={() => void refetch()} />
      )}
      {data && count === 0 && (
        <EmptyState icon="check" title="Nothing is wrong">
          `parkway doctor` says the same on the machine of the gateway.
        </EmptyState>
      )}
      {data && count > 0 && (
        <ul aria-label="Findings" className="divide-y divide-line rounded-lg border border-line">
          {data.data.map((finding) => (
            <FindingRow key={`${finding.code} ${finding.subject} ${finding.message}`} finding={finding} />
          ))}
        </ul>
      )}
    </Page>
  )
}

const TONES: Readonly<Record<Finding['level'], Tone>> = { critical: 'bad', warning: 'warn', info: 'accent' }

function FindingRow({ finding }: { readonly finding: Finding }) {
  const { level, code, subject, message, mend } = finding
  return (
    <li className="flex gap-4 px-4 py-3">
      <div className="w-20 shrink-0 pt-0.5">
        <Badge tone={TONES[level]}>{level}</Badge>
      </div>
      <div className="min-w-0 text-sm">
        <p className="font-medium break-words">{subject === null ? message : `${subject}: ${message}`}</p>
        <p className="break-words text-ink-soft">{mend}</p>
        <p className="font-mono text-xs text-ink-soft">{code}</p>
      </div>
    </li>
  )
}
