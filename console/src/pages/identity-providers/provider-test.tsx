import { useMutation } from '@tanstack/react-query'
import { testIdentityProvider } from '../../api/identity-providers.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { Badge, type Tone } from '../../ui/text/badge.tsx'

const TONES: Readonly<Record<string, Tone>> = { ok: 'good', warning: 'warn', failed: 'bad' }

/** Reads the provider now, and shows what is wrong. */
export function ProviderTest({ providerId }: { readonly providerId: string }) {
  const test = useMutation({ mutationFn: () => testIdentityProvider(providerId) })
  return (
    <section aria-labelledby="test" className="flex flex-col gap-3 border-t border-line pt-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h3 id="test" className="text-sm font-semibold">
          Test
        </h3>
        <Button icon="play" isBusy={test.isPending} onClick={() => test.mutate()}>
          Test the provider
        </Button>
      </div>
      {test.error && <ErrorPanel title="The test could not be made" error={test.error} />}
      {test.data && (
        <ul className="flex flex-col gap-2" aria-live="polite">
          {test.data.checks.map(({ name, outcome, message }) => (
            <li key={name} className="flex items-start gap-2 text-sm">
              <Badge tone={TONES[outcome] ?? 'plain'}>{outcome}</Badge>
              <span className="min-w-0 break-words">{message}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
