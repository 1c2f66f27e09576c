import { AppError } from '../../kernel/app-error.ts'
import type { Exchange } from '../exchange.ts'
import type { Form, FormDescription } from './form.ts'
import { readForm } from './read-form.ts'
import type { Spool } from './spool.ts'

/** Reads the form of a request and does the work with it. The files are gone when the work is over, however it ended. */
export type TakeForm = <Result>(
  exchange: Exchange,
  description: FormDescription,
  work: (form: Form) => Promise<Result>,
) => Promise<Result>

/** What lies on the disk at once is bounded by these and by the size of a form. */
const FORMS_MAX = 256
const FORMS_OF_ACCOUNT_MAX = 64

export function createTakeForm(spool: Spool): TakeForm {
  const countOfAccount = new Map<string, number>()
  let count = 0

  const enter = (accountId: string): void => {
    const ofAccount = countOfAccount.get(accountId) ?? 0
    if (ofAccount >= FORMS_OF_ACCOUNT_MAX) {
      const message = `This account may have ${FORMS_OF_ACCOUNT_MAX} uploads running at once.`
      throw new AppError('concurrency_limit_reached', message, { retryAfterSeconds: 1 })
    }
    if (count >= FORMS_MAX) {
      const message = 'Too many uploads are running. Try again shortly.'
      throw new AppError('service_unavailable', message, { retryAfterSeconds: 1 })
    }
    count += 1
    countOfAccount.set(accountId, ofAccount + 1)
  }
  const leave = (accountId: string): void => {
    count -= 1
    const ofAccount = (countOfAccount.get(accountId) ?? 1) - 1
    if (ofAccount === 0) countOfAccount.delete(accountId)
    else countOfAccount.set(accountId, ofAccount)
  }

  return async (exchange, description, work) => {
    const accountId = exchange.caller?.accountId ?? ''
    enter(accountId)
    try {
      const form = await readForm(exchange, description, spool)
      try {
        return await work(form)
      } finally {
        await spool.remove(form.files.map(({ path }) => path))
      }
    } finally {
      leave(accountId)
    }
  }
}
