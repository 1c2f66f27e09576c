import type { FastifyInstance } from 'fastify'
import { AppError } from '../../kernel/app-error.ts'

/** Stands for the body of a request whose form is still to be read. */
export const FORM_TO_READ = Symbol('a form to read')

/** Lets the routes of a scope take forms beside JSON, unread: the route reads them, and removes what they left on the disk. */
export function acceptForms(scope: FastifyInstance): void {
  scope.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null, FORM_TO_READ))
  scope.addContentTypeParser('*', (_request, _payload, done) => {
    done(new AppError('unsupported_media_type', 'This route takes multipart/form-data or application/json.'))
  })
}
