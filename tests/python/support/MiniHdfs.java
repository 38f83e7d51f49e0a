import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.SafeModeAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;

/**
 * A cluster of HDFS with one data node, below the folder of the first argument. It prints the ports of its name node,
 * then follows the commands of its input, and ends when its input ends. Its output has these answers only: what the
 * servers log goes to the standard error.
 */
public class MiniHdfs {
    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        // Before the first logger is made, which keeps the stream.
        System.setOut(System.err);
        Configuration configuration = new Configuration();
        String[] servers = {"namenode.rpc-", "namenode.http-", "datanode.http.", "datanode.ipc.", "datanode."};
        for (String server : servers) {
            configuration.set("dfs." + server + "address", "127.0.0.1:0");
        }
        configuration.set("dfs.namenode.rpc-bind-host", "127.0.0.1");
        // Files of some megabytes have several blocks.
        configuration.set("dfs.blocksize", "4194304");
        MiniDFSCluster.Builder builder = new MiniDFSCluster.Builder(configuration, new File(arguments[0]));
        MiniDFSCluster cluster = builder.numDataNodes(1).build();
        cluster.waitActive();
        answers.println(cluster.getNameNodePort() + " " + cluster.getNameNode().getHttpAddress().getPort());
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            run(cluster.getFileSystem(), line.split(" "));
            answers.println("done");
        }
        cluster.shutdown(true);
        System.exit(0);
    }

    private static void run(DistributedFileSystem system, String[] words) throws Exception {
        switch (words[0]) {
            case "safemode" -> system.setSafeMode(SafeModeAction.valueOf(words[1]));
            case "quota" -> {
                system.mkdirs(new Path(words[1]));
                system.setQuota(new Path(words[1]), HdfsConstants.QUOTA_DONT_SET, Long.parseLong(words[2]));
            }
            case "permission" -> system.setPermission(new Path(words[1]), new FsPermission(words[2]));
            default -> throw new IllegalArgumentException(words[0]);
        }
    }
}
