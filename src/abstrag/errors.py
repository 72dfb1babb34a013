"""Every exception this package raises on purpose.

AbstragError              anything we raise on purpose                      (exit 1, HTTP 500)
├── InputError            the caller's document, query or flag is wrong     (exit 2, HTTP 422)
│   ├── ChainError        operators were composed in an impossible order
│   ├── BackgroundError   a Background file says something we cannot read
│   └── NothingAsked      no word of a query is one to look for
├── DocumentError         a file cannot become a document                   (exit 3, HTTP 422)
│   ├── FileMissing       there is no such file                             (exit 4, HTTP 404)
│   ├── NotAFile          the path is a folder where a file is needed       (exit 5)
│   ├── FileTooLarge      the file is over the size limit                   (exit 6, HTTP 413)
│   ├── EmptyDocument     the file holds no text at all                     (exit 7)
│   ├── UnknownFormat     the bytes are no format we read                   (exit 8, HTTP 415)
│   ├── Undecodable       the bytes are text in no encoding we can tell     (exit 9)
│   ├── Encrypted         the file needs a password                         (exit 10)
│   ├── NoTextLayer       the pages are pictures; there is no text to read  (exit 11)
│   ├── Damaged           the file is broken or cut off                     (exit 12)
│   └── TooCostly         it took more time or memory than a document may   (exit 27, HTTP 422)
├── StoreError            the store cannot be read or written               (exit 13, HTTP 503)
│   ├── StoreCorrupt      the file is no store of ours, or it is broken
│   ├── StoreTooNew       a newer version of abstrag wrote it
│   ├── StoreReadOnly     its disk is full or read-only, and it can only be read
│   └── UnknownDocument   the store holds no document of that name          (exit 14, HTTP 404)
├── ResourceMissing       something that ships with us is not there         (exit 15)
├── PartialFailure        some of several files failed, the rest is done    (exit 16)
├── NotComputable         a metric lacks a field it needs; never a zero     (exit 17)
├── ModelError            a language model did not give what was asked      (exit 18, HTTP 502)
│   ├── NeedsModel        this cannot be done without a language model      (exit 19, HTTP 422)
│   ├── ModelUnreachable  the endpoint does not answer, or refuses us       (exit 20, HTTP 503)
│   ├── BadReply          the reply is not what the schema asks for         (exit 21)
│   ├── OverBudget        the next call could cost more than is allowed     (exit 22, HTTP 402)
│   └── NotRecorded       a replay meets a call that nobody recorded        (exit 23)
├── PolicyError           the policy store refuses a change                 (exit 24, HTTP 409)
│   └── Regression        a replay finds a case worse than it was           (exit 25)
└── WorkerLost            a worker died, hangs or cannot be started         (exit 26, HTTP 503)

Exit code 0 is success, 1 an error nobody foresaw, 2 also what the command line reports for wrong
usage. A message is one sentence that names the culprit; the fix goes into `hint`.
"""

from __future__ import annotations


class AbstragError(Exception):
    """Base class: catch this to catch everything we raise on purpose."""

    exit_code = 1
    http_status = 500

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        if hint:
            self.add_note(f"hint: {hint}")


class InputError(AbstragError):
    """The caller gave us something we cannot use."""

    exit_code, http_status = 2, 422


class ChainError(InputError):
    """An operator was placed where its predecessor's layer is missing."""


class BackgroundError(InputError):
    """A Background file says something we cannot read."""


class NothingAsked(InputError):
    """No word of a query is one to look for, at least not in this document."""


class DocumentError(AbstragError):
    """A file cannot become a document."""

    exit_code, http_status = 3, 422


class FileMissing(DocumentError):
    """There is no such file."""

    exit_code, http_status = 4, 404


class NotAFile(DocumentError):
    """The path is a folder, a socket or a device where a file is needed."""

    exit_code = 5


class FileTooLarge(DocumentError):
    """The file is over the configured size limit."""

    exit_code, http_status = 6, 413


class EmptyDocument(DocumentError):
    """The file holds no text at all."""

    exit_code = 7


class UnknownFormat(DocumentError):
    """The bytes are in no format we read."""

    exit_code, http_status = 8, 415


class Undecodable(DocumentError):
    """The bytes look like text, but in no encoding we can tell."""

    exit_code = 9


class Encrypted(DocumentError):
    """The file cannot be opened without a password."""

    exit_code = 10


class NoTextLayer(DocumentError):
    """The pages are pictures; there is no text to read."""

    exit_code = 11


class Damaged(DocumentError):
    """The file is broken or cut off."""

    exit_code = 12


class TooCostly(DocumentError):
    """The file took more processor time, memory or time than a document may."""

    exit_code = 27


class StoreError(AbstragError):
    """The store cannot be read or written."""

    exit_code, http_status = 13, 503


class StoreCorrupt(StoreError):
    """The file is no store of ours, or it is broken."""


class StoreTooNew(StoreError):
    """A newer version of this program wrote the store."""


class StoreReadOnly(StoreError):
    """The disk of the store is full or read-only; reading works as ever."""


class UnknownDocument(StoreError):
    """The store holds no document of that name."""

    exit_code, http_status = 14, 404


class ResourceMissing(AbstragError):
    """Something that ships with the package is missing or damaged."""

    exit_code = 15


class PartialFailure(AbstragError):
    """Some of several files failed; what could be done is done and kept."""

    exit_code = 16


class NotComputable(AbstragError):
    """A metric needs a field this record does not have."""

    exit_code = 17


class ModelError(AbstragError):
    """A language model did not give what was asked for."""

    exit_code, http_status = 18, 502


class NeedsModel(ModelError):
    """This cannot be done without a language model, and none is connected."""

    exit_code, http_status = 19, 422


class ModelUnreachable(ModelError):
    """The endpoint does not answer, or refuses us."""

    exit_code, http_status = 20, 503


class BadReply(ModelError):
    """The reply is not what the schema asks for, and asking again did not help."""

    exit_code = 21


class OverBudget(ModelError):
    """The next call could cost more than is allowed; it was not made."""

    exit_code, http_status = 22, 402


class NotRecorded(ModelError):
    """A replay meets a call that nobody recorded."""

    exit_code = 23


class PolicyError(AbstragError):
    """The policy store refuses a change."""

    exit_code, http_status = 24, 409


class Regression(PolicyError):
    """A replay finds a case worse than it was."""

    exit_code = 25


class WorkerLost(AbstragError):
    """A worker process died, went on for too long, or cannot be started."""

    exit_code, http_status = 26, 503
