/** What EC2 says when a call fails, in our words (EC2 API reference, "Error codes"). */
import { CloudFault, type CloudFaultSort } from '../driver.ts'

const SORTS: Readonly<Record<string, CloudFaultSort>> = {
  InsufficientInstanceCapacity: 'capacity',
  InsufficientHostCapacity: 'capacity',
  InsufficientReservedInstanceCapacity: 'capacity',
  // the type is not offered in the zone of the subnet
  Unsupported: 'capacity',
  VolumeModificationRateExceeded: 'limit',
  RequestLimitExceeded: 'busy',
  Throttling: 'busy',
  ThrottlingException: 'busy',
  IncorrectInstanceState: 'busy',
  IncorrectState: 'busy',
  IncorrectModificationState: 'busy',
  ConcurrentTagAccess: 'busy',
  CreditSpecificationUpdateInProgress: 'busy',
  // of an address: its machine is pending yet (hashicorp/terraform-provider-aws#21228)
  InvalidInstanceID: 'busy',
  VolumeInUse: 'busy',
  'InvalidIPAddress.InUse': 'busy',
  'Resource.AlreadyAssociated': 'busy',
  // what we made ourselves; what the settings name wrongly is never shown later
  'InvalidInstanceID.NotFound': 'missing',
  'InvalidVolume.NotFound': 'missing',
  'InvalidAllocationID.NotFound': 'missing',
  'InvalidAddressID.NotFound': 'missing',
  'InvalidAssociationID.NotFound': 'missing',
  // of a thing to be tagged
  InvalidID: 'missing',
  IdempotentInstanceTerminated: 'spent',
  ServiceUnavailable: 'unknown',
  InternalError: 'unknown',
  InternalFailure: 'unknown',
  Unavailable: 'unknown',
  RequestTimeout: 'unknown',
  AuthFailure: 'denied',
  UnauthorizedOperation: 'denied',
  OptInRequired: 'denied',
  Blocked: 'denied',
  PendingVerification: 'denied',
  InvalidClientTokenId: 'denied',
  SignatureDoesNotMatch: 'denied',
  IncompleteSignature: 'denied',
  MissingAuthenticationToken: 'denied',
  ExpiredToken: 'denied',
  RequestExpired: 'denied',
  CredentialsProviderError: 'denied',
}

type SdkError = { name?: string; Code?: string; message?: string; $metadata?: { httpStatusCode?: number } }

const sortOf = (code: string, status: number | undefined): CloudFaultSort => {
  const known = SORTS[code]
  if (known) return known
  if (code.endsWith('LimitExceeded')) return 'limit'
  // no answer, or none of the API: whether it was done is not known
  return status === undefined || status >= 500 ? 'unknown' : 'refused'
}

export const faultOf = (error: unknown): CloudFault => {
  const { name, Code, message = String(error), $metadata } = error as SdkError
  const code = Code ?? name ?? 'Error'
  return new CloudFault(sortOf(code, $metadata?.httpStatusCode), code, message)
}
