import type { IncomingMessage } from 'node:http'
import { AppError } from '../../kernel/app-error.ts'
import type { OwnFiles } from '../../modules/media/media.ts'
import type { Exchange } from '../exchange.ts'
import { decodeFiles, type OpenFileAddress } from './decode-files.ts'
import type { Form, FormDescription, UploadedFile } from './form.ts'
import { readForm } from './read-form.ts'
import type { Spool } from './spool.ts'

/** Runs the work of a request with its files, and deletes them when the work ends or fails. */
export interface TakeFiles {
  ofForm<Result>(
    exchange: Exchange<IncomingMessage>,
    description: FormDescription,
    work: (form: Form) => Promise<Result>,
  ): Promise<Result>
  /** Takes the files that are members of a JSON body. */
  ofBody<Result>(
    exchange: Exchange,
    description: FormDescription,
    body: unknown,
    work: (files: readonly UploadedFile[]) => Promise<Result>,
  ): Promise<Result>
}

interface TakeFilesOptions {
  readonly spool: Spool
  readonly media: OwnFiles
}

/** Together with the size limit of a form, these bound the disk usage. */
const FORMS_MAX = 256
const FORMS_OF_ACCOUNT_MAX = 64

export function createTakeFiles({ spool, media }: TakeFilesOptions): TakeFiles {
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

  const within = async <Files, Result>(
    { caller }: Exchange,
    read: () => Promise<Files>,
    steps: { readonly pathsOf: (files: Files) => string[]; readonly work: (files: Files) => Promise<Result> },
  ): Promise<Result> => {
    const accountId = caller?.accountId ?? ''
    enter(accountId)
    try {
      const files = await read()
      try {
        return await steps.work(files)
      } finally {
        await spool.remove(steps.pathsOf(files))
      }
    } finally {
      leave(accountId)
    }
  }

  const openAddressFor =
    ({ caller }: Exchange): OpenFileAddress =>
    async (url, field) => {
      const id = media.ownIdOf(url, field)
      return id === null || caller === null ? null : media.openOwn(caller, id, field)
    }

  return {
    ofForm: (exchange, description, work) =>
      within(exchange, () => readForm(exchange, description, spool), {
        pathsOf: ({ files }) => files.map(({ path }) => path),
        work,
      }),
    ofBody: (exchange, description, body, work) =>
      within(
        exchange,
        () => decodeFiles(description, body, { spool, openAddress: openAddressFor(exchange) }),
        {
          pathsOf: (files) => files.map(({ path }) => path),
          work,
        },
      ),
  }
}
