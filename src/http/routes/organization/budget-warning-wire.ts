import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { formatUsd, usdFromNanoUsd } from '../../../kernel/money.ts'
import type { BudgetWarning } from '../../../modules/budgets/budgets.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { CreatedAt, UuidId, objectName } from '../../../wires/usual-members.ts'
import { accountAddress, toAddressForm } from '../account/alert-forms.ts'
import { subjectToWire, SubjectAnswer } from './budget-wire.ts'

export const WarningAnswer = Type.Object(
  {
    id: UuidId,
    object: objectName('organization.budget_alert'),
    budget_id: Type.String({ description: 'The budget that it is about.' }),
    subject: SubjectAnswer,
    window: Type.String({ description: 'The kind of its windows.' }),
    window_start: Type.String({ format: 'date', description: 'The first day of the window, in UTC.' }),
    threshold_percent: Type.Integer({ description: 'The part of the budget that was reached.' }),
    limit_usd: Type.Number({ description: 'The budget at that time.' }),
    spent_usd: Type.Number({ description: 'What was spent of it at that time.' }),
    created_at: CreatedAt,
  },
  { title: 'OrganizationBudgetAlert' },
)

export function warningAnswer(warning: BudgetWarning): Static<typeof WarningAnswer> {
  return {
    id: warning.id,
    object: 'organization.budget_alert',
    budget_id: wireId('budget', warning.budgetId),
    subject: subjectToWire(warning.subject),
    window: warning.period,
    window_start: warning.windowStart,
    threshold_percent: warning.thresholdPercent,
    limit_usd: usdFromNanoUsd(warning.limitNanoUsd),
    spent_usd: usdFromNanoUsd(warning.spentNanoUsd),
    created_at: toTimestamp(warning.createdAtMs),
  }
}

/** What an address gets. One without a webhook of the budget is called in the form of the account. */
export function warningToWire(
  warning: BudgetWarning,
  url: string,
  settings: Parameters<typeof accountAddress>[1],
): object {
  const text = describe(warning)
  const prefix = warning.emailSubjectPrefix === null ? '' : `${warning.emailSubjectPrefix} `
  const event = {
    type: 'organization.budget.alert',
    timestamp: toTimestamp(warning.createdAtMs),
    data: warningAnswer(warning),
  }
  const address = warning.webhook?.url === url ? warning.webhook : accountAddress(url, settings)
  return toAddressForm({ subject: `${prefix}${text.split('. ', 1)[0]}`, text, event }, address)
}

const SUBJECT_NAMES = {
  account: 'account',
  project: 'project',
  group: 'group',
  user: 'person',
  service_account: 'service account',
  key: 'key',
  tag: 'tag',
} as const

const PERIOD_NAMES = { day: 'daily', week: 'weekly', month: 'monthly', total: 'total' } as const

function describe(warning: BudgetWarning): string {
  const { subject, period, thresholdPercent, limitNanoUsd, spentNanoUsd, isHard } = warning
  const { id } = subjectToWire(subject)
  const name = `${SUBJECT_NAMES[subject.kind]}${id === null ? '' : ` ${id}`}`
  const left = limitNanoUsd > spentNanoUsd ? limitNanoUsd - spentNanoUsd : 0n
  const consequence = isHard
    ? `Requests that need more than the remaining ${formatUsd(left)} USD are refused.`
    : 'It only warns: nothing is refused.'
  return (
    `${thresholdPercent} % of the ${PERIOD_NAMES[period]} budget of the ${name} is spent. ` +
    `${formatUsd(spentNanoUsd)} of ${formatUsd(limitNanoUsd)} USD since ${warning.windowStart} (UTC). ${consequence}`
  )
}
