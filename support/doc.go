// Package support writes one text file for whoever helps from afar: configuration, what doctor says, status, the last log lines, the
// store in numbers, and the machine. Every secret that the configuration leads to is hidden wherever it turns up, in every form in which
// it is sent; see Redactor.
package support
