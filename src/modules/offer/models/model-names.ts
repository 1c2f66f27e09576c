import { AppError, invalidValue } from '../../../kernel/app-error.ts'

const ID = /^[A-Za-z0-9](?:[A-Za-z0-9._:/@+-]{0,198}[A-Za-z0-9])?$/

export function requireId(id: string, param: string): void {
  if (!ID.test(id))
    throw invalidValue(param, 'A name has up to 200 letters, digits and any of . _ : / @ + - between them.')
}

export function fixedByFile(name: string): AppError {
  return new AppError(
    'conflict',
    `The model '${name}' is from the file: the built-in catalog or the catalog file of the gateway. It can only be changed there.`,
  )
}
