import { call, client } from './client.ts'
import { organizationPages, type RowOf } from './organization-pages.ts'

export type Budget = RowOf<typeof budgetsQuery>
export type BudgetRequest = RowOf<typeof budgetRequestsQuery>
export type SubjectType = 'account' | 'project' | 'group' | 'user' | 'service_account' | 'key' | 'tag'
export type BudgetWindow = 'day' | 'week' | 'month' | 'total'

export interface BudgetSubject {
  readonly type: SubjectType
  /** Null for the account. */
  readonly id: string | null
}

const at = (id: string) => ({ path: { budget_id: id } })

/** The budgets that the session may see: all, or those of one subject. */
export const budgetsQuery = (subject: BudgetSubject | null) =>
  organizationPages(['budgets', 'list', subject], (page, signal) =>
    call(() =>
      client.GET('/v1/organization/budgets', {
        params: {
          query: {
            ...page,
            ...(subject !== null && { subject_type: subject.type }),
            ...(subject !== null && subject.id !== null && { subject_id: subject.id }),
          },
        },
        signal,
      }),
    ),
  )

export const createBudget = (body: {
  subject: BudgetSubject
  window: BudgetWindow
  limit_usd: number
  is_hard: boolean
  models: string[] | null
  thresholds_percent: number[]
}) => call(() => client.POST('/v1/organization/budgets', { body }))

export const changeBudget = (id: string, body: { limit_usd: number; is_hard: boolean }) =>
  call(() => client.POST('/v1/organization/budgets/{budget_id}', { params: at(id), body }))

export const deleteBudget = (id: string) =>
  call(() => client.DELETE('/v1/organization/budgets/{budget_id}', { params: at(id) }))

export const raiseBudget = (id: string, body: { amount_usd: number; until: string }) =>
  call(() => client.POST('/v1/organization/budgets/{budget_id}/raise', { params: at(id), body }))

export const endRaise = (id: string) =>
  call(() => client.DELETE('/v1/organization/budgets/{budget_id}/raise', { params: at(id) }))

export type RequestStatus = 'pending' | 'approved' | 'refused'

export const budgetRequestsQuery = (status: RequestStatus | null) =>
  organizationPages(['budgets', 'requests', status], (page, signal) =>
    call(() =>
      client.GET('/v1/organization/budget_requests', {
        params: { query: { ...page, ...(status !== null && { status }) } },
        signal,
      }),
    ),
  )

export const requestBudget = (body: {
  budget_id: string
  amount_usd: number
  until: string
  reason: string
}) => call(() => client.POST('/v1/organization/budget_requests', { body }))

export const decideRequest = (id: string, decision: 'approve' | 'refuse') =>
  decision === 'approve'
    ? call(() =>
        client.POST('/v1/organization/budget_requests/{request_id}/approve', {
          params: { path: { request_id: id } },
          body: {},
        }),
      )
    : call(() =>
        client.POST('/v1/organization/budget_requests/{request_id}/refuse', {
          params: { path: { request_id: id } },
        }),
      )

/** How long a budget counts, in the words of a sentence. */
export const BUDGET_WINDOWS: Readonly<Record<Budget['window'], string>> = {
  day: 'a day',
  week: 'a week',
  month: 'a month',
  total: 'in total',
}
