import type { ProviderTest } from '../../api/operator.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'

/** How a test call of a provider went. */
export function TestResult({ test }: { readonly test: ProviderTest }) {
  return (
    <DetailsList
      details={{
        Result: test.is_ok ? <Badge tone="good">answered</Badge> : <Badge tone="bad">failed</Badge>,
        Model: test.model,
        Took: formatDuration(test.latency_ms),
        Status: test.status,
        Failure: test.failure,
        Message: test.message,
      }}
    />
  )
}
