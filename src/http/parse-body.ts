import { AppError } from '../kernel/app-error.ts'

/** A missing body is an empty object: routes that need members say which. */
export function parseBody(text: string): unknown {
  if (text === '') return {}
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new AppError('invalid_json', 'The body is not valid JSON.', { cause: error })
  }
}
