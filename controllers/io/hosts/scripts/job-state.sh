# Says how the job stands, once it has ended or was waited for long enough.
report
