/** A part of a request that cannot be translated for the vendor, with its position in `param`. */
export class UntranslatableRequest extends Error {
  override readonly name = 'UntranslatableRequest'
  readonly param: string
  readonly code: 'invalid_value' | 'unsupported_parameter'

  constructor(param: string, message: string, code: UntranslatableRequest['code'] = 'invalid_value') {
    super(message)
    this.param = param
    this.code = code
  }
}
