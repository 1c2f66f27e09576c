import type { Static } from 'typebox'
import type { LiveOverview } from '../../http/routes/operator/admin-live.ts'
import type { Queryable } from '../../storage/database.ts'
import type { ProcessReport } from './process-report.ts'
import type { ReportHistory } from './process-reports.ts'

type Attention = Static<typeof LiveOverview>['attention'][number]
type Failure = NonNullable<ProcessReport['failures']>[number]

const LISTED_MAX = 10
const NAMED_MAX = 3

/** Says who fails at a provider, and why its breakers are as they are. */
export function describeFailingProvider(
  name: string,
  { errors, requests }: { readonly errors: number; readonly requests: number },
  reports: readonly ProcessReport[],
  accountNames: ReadonlyMap<string, string>,
): Attention {
  const failures = reports
    .flatMap((report) => report.failures ?? [])
    .filter(({ provider }) => provider === name)
    .toSorted((a, b) => b.calls - a.calls)
  const nameOf = ({ accountId }: Failure): string => accountNames.get(accountId) ?? accountId
  const told = [
    listed(failures.map(({ model, upstreamModel }) => model || upstreamModel)),
    listed(failures.map(nameOf)),
    listed(failures.map(reasonOf)),
  ]
  const [models, accounts, reasons] = told
  const whose = failures.length === 0 ? '' : `: ${models} for ${accounts}, ${reasons}`
  return {
    level: 'warning',
    code: 'provider_failing',
    subject: name,
    message: `${errors} of ${requests} calls of ${name} failed in five minutes${whose}.`,
    explanation: explainBreakers(name, failures, reports),
    failures: failures.slice(0, LISTED_MAX).map((failure) => ({
      provider: name,
      model: failure.model || null,
      account_id: failure.accountId,
      account_name: accountNames.get(failure.accountId) ?? null,
      calls: failure.calls,
      failure: failure.failure,
      http_status: failure.status,
      error_code: failure.code,
    })),
  }
}

function reasonOf({ failure, status, code }: Failure): string {
  const said = status === null ? failure : `status ${status}`
  return code === null ? said : `${said} ${code}`
}

/** Names the first ones. */
function listed(values: readonly string[]): string {
  const different = [...new Set(values)]
  const others = different.length - NAMED_MAX
  return different.slice(0, NAMED_MAX).join(', ') + (others > 0 ? ` and ${others} more` : '')
}

function explainBreakers(
  name: string,
  failures: readonly Failure[],
  reports: readonly ProcessReport[],
): string {
  const breakers = reports.flatMap((report) => report.breakers).filter(({ provider }) => provider === name)
  const open = breakers.filter(({ state }) => state !== 'closed').map(({ model }) => model)
  if (open.length > 0)
    return `The breaker of ${listed(open)} is open: requests use other routes, if there are any.`
  const accounts = Math.max(0, ...breakers.map((breaker) => breaker.accounts))
  if (accounts > 0)
    return `Its breakers are closed for everybody, because they open only if two accounts or more fail: one alone may be at fault itself. ${accounts === 1 ? 'The requests of one account use' : `The requests of ${accounts} accounts use`} other routes, if there are any.`
  const uncounted = failures.filter(({ isBreakerFailure }) => !isBreakerFailure)
  const calls = (some: readonly Failure[]): number => some.reduce((sum, failure) => sum + failure.calls, 0)
  if (uncounted.length > 0 && calls(uncounted) * 2 >= calls(failures))
    return `Its breakers are closed, because ${listed(uncounted.map(reasonOf))} does not count for them: it is about a request, a key or a rate limit, and not about the health of the provider.`
  return 'Its breakers are closed: one opens after five failed requests for a model within a minute in one process, if at least half of the requests fail. One request makes up to three calls.'
}

const ACCOUNTS_NAMED_MAX = 100

/** The accounts whose calls failed. */
export function listFailingAccounts(histories: readonly ReportHistory[]): string[] {
  const failures = histories.flatMap((history) => history.at(-1)?.failures ?? [])
  return [...new Set(failures.map(({ accountId }) => accountId))].slice(0, ACCOUNTS_NAMED_MAX)
}

export async function readAccountNames(
  queryable: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await queryable.query<{ id: string; name: string }>(
    'SELECT id::text, name FROM accounts WHERE id = ANY ($1::uuid[])',
    [ids],
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}
