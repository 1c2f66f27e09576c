import type { IncomingMessage } from 'node:http'
import { AppError } from '../../kernel/app-error.ts'
import type { OwnFiles } from '../../modules/media/media.ts'
import type { Exchange } from '../exchange.ts'
import { decodeFiles, type OpenFileAddress } from './decode-files.ts'
import type { Form, FormDescription, FormRoom, UploadedFile } from './form.ts'
import { readForm } from './read-form.ts'
import { spoolBody } from './spool-body.ts'
import type { Spool } from './spool.ts'

/** Runs the work of a request with its files, and deletes them when the work ends or fails. */
export interface TakeFiles {
  ofForm<Result>(
    exchange: Exchange<IncomingMessage>,
    description: FormDescription,
    work: (form: Form, room: FormRoom | null) => Promise<Result>,
    keeper?: RoomKeeper,
  ): Promise<Result>
  /** Takes a whole body as a file. */
  ofWhole<Result>(
    exchange: Exchange<IncomingMessage>,
    bytesMax: number,
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

/** Takes room before a form is read, and gives back what was not used of it when its work has ended. */
export interface RoomKeeper {
  /**
   * Returns null if the form is read only to compare it with an earlier request, whose answer is repeated.
   * @param bytes of the whole body. Null if the client does not say.
   */
  take(bytes: number | null): Promise<FormRoom | null>
  release(room: FormRoom): Promise<void>
}

interface TakeFilesOptions {
  readonly spool: Spool
  readonly media: OwnFiles
}

/** Together with the size limit of a form, these bound the disk usage. */
const FORMS = { all: 256, ofAccount: 64 }
/** Whole bodies are as long as nothing else is. */
const WHOLE = { all: 32, ofAccount: 4 }

export function createTakeFiles({ spool, media }: TakeFilesOptions): TakeFiles {
  const forms = createPlaces(FORMS)
  const wholes = createPlaces(WHOLE)

  const within = async <Files, Result>(
    { caller }: Exchange,
    read: () => Promise<Files>,
    steps: { readonly pathsOf: (files: Files) => string[]; readonly work: (files: Files) => Promise<Result> },
    places = forms,
  ): Promise<Result> => {
    const accountId = caller?.accountId ?? ''
    places.enter(accountId)
    try {
      const files = await read()
      try {
        return await steps.work(files)
      } finally {
        await spool.remove(steps.pathsOf(files))
      }
    } finally {
      places.leave(accountId)
    }
  }

  const openAddressFor =
    ({ caller }: Exchange): OpenFileAddress =>
    async (url, field) => {
      const id = media.ownIdOf(url, field)
      return id === null || caller === null ? null : media.openOwn(caller, id, field)
    }

  return {
    ofForm: async (exchange, description, work, keeper) => {
      const ofRoom = (room: FormRoom | null) =>
        within(exchange, () => readForm(exchange, description, { spool, room }), {
          pathsOf: ({ files }) => files.map(({ path }) => path),
          work: (form) => work(form, room),
        })
      if (keeper === undefined) return ofRoom(null)
      const room = await keeper.take(declaredBytes(exchange.incoming))
      if (room === null) return ofRoom(null)
      try {
        return await ofRoom(room)
      } finally {
        // What is not given back now is given back by the sweep.
        await keeper.release(room).catch(() => {})
      }
    },
    ofWhole: (exchange, bytesMax, work) =>
      within(
        exchange,
        () => spoolBody(exchange, bytesMax, spool),
        { pathsOf: ({ files }) => files.map(({ path }) => path), work },
        wholes,
      ),
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

interface Places {
  /** Throws if there is none. */
  enter(accountId: string): void
  leave(accountId: string): void
}

function createPlaces(max: { readonly all: number; readonly ofAccount: number }): Places {
  const countOfAccount = new Map<string, number>()
  let count = 0
  return {
    enter: (accountId) => {
      const ofAccount = countOfAccount.get(accountId) ?? 0
      if (ofAccount >= max.ofAccount) {
        const message = `This account may have ${max.ofAccount} such uploads running at once.`
        throw new AppError('concurrency_limit_reached', message, { retryAfterSeconds: 1 })
      }
      if (count >= max.all) {
        const message = 'Too many uploads are running. Try again shortly.'
        throw new AppError('service_unavailable', message, { retryAfterSeconds: 1 })
      }
      count += 1
      countOfAccount.set(accountId, ofAccount + 1)
    },
    leave: (accountId) => {
      count -= 1
      const ofAccount = (countOfAccount.get(accountId) ?? 1) - 1
      if (ofAccount === 0) countOfAccount.delete(accountId)
      else countOfAccount.set(accountId, ofAccount)
    },
  }
}

function declaredBytes({ headers }: IncomingMessage): number | null {
  const length = headers['content-length']
  return length === undefined ? null : Number(length)
}
