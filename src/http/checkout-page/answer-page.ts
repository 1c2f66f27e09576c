import type { FastifyReply } from 'fastify'
import { AppError } from '../../kernel/app-error.ts'
import { ERROR_CATALOGUE } from '../answers/error-envelope.ts'
import { pageHeaders, renderPage, type CheckoutPage } from './render-page.ts'

type PageAnswer =
  | { readonly headers: Record<string, string>; readonly page: CheckoutPage }
  | { readonly location: string }

/** Errors are shown as a page instead of the API's error envelope, because people read them. */
export async function answerPage(reply: FastifyReply, work: () => Promise<PageAnswer>): Promise<void> {
  const answer = await work().catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error
    reply.code(ERROR_CATALOGUE[error.code].status)
    return { headers: pageHeaders(), page: refusalPage(error) }
  })
  if ('location' in answer) {
    reply.code(303).headers(pageHeaders()).header('location', answer.location).send()
    return
  }
  reply.headers(answer.headers).type('text/html; charset=utf-8').send(renderPage(answer.page))
}

function refusalPage({ code, message }: AppError): CheckoutPage {
  const title = code === 'not_found' ? 'No such checkout' : 'This cannot be paid'
  return { title, tone: 'bad', lines: [message] }
}
